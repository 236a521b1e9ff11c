import { ManualClock } from '../std/clock.js';
import { SeededRng } from '../std/rng.js';
import { RecordedTrace } from './recorded-trace.js';
import type { Span } from './span.js';

function world() {
  const clock = new ManualClock();
  const spans: Span[] = [];
  const counts = { leftOut: 0 };
  const request = {
    startMs: clock.monotonicMs(),
    spanName: 'DELETE /api/v1/pods',
    verbSpan: 'Delete',
    attributes: {},
    verbAttributes: () => ({}),
  };
  const trace = new RecordedTrace(
    request,
    { parent: undefined, link: undefined },
    {
      clock,
      rng: new SeededRng(1),
      ended: (span) => void spans.push(span),
      leftOut: () => void counts.leftOut++,
    },
  );
  const named = (name: string) => spans.filter((span) => span.name === name);
  return { clock, spans, counts, trace, named };
}

it('a request has at most 1,001 spans, that of the request among them; others are counted', () => {
  const { clock, spans, counts, trace } = world();
  trace.enter('handling', clock.monotonicMs());
  trace.enter('admission', clock.monotonicMs());
  for (let i = 0; i < 1_500; i++) trace.beginPart('part').end();
  trace.end({}, undefined, clock.monotonicMs());
  expect(spans).toHaveLength(1_001);
  expect(spans.at(-1)?.name).toBe('DELETE /api/v1/pods');
  // Of the 1,000, three are those of authentication, the verb and admission.
  expect(counts.leftOut).toBe(503);
});

it('a part that ends before one that began later leaves the step usable', () => {
  const { clock, trace, named } = world();
  trace.enter('handling', clock.monotonicMs());
  trace.enter('admission', clock.monotonicMs());
  const first = trace.beginPart('first');
  const second = trace.beginPart('second');
  first.end();
  const third = trace.beginPart('third');
  second.end();
  third.end();
  trace.end({}, undefined, clock.monotonicMs());
  const [verb] = named('Delete');
  const [step] = named('Admission');
  expect(step?.parentId).toBe(verb?.id);
  expect(named('first')[0]?.parentId).toBe(step?.id);
  expect(named('third')[0]?.endMs).toBeDefined();
});

it('nothing is recorded after the end of the request', () => {
  const { clock, spans, trace } = world();
  trace.end({ code: 504 }, 'status 504', clock.monotonicMs());
  const count = spans.length;
  trace.enter('store', clock.monotonicMs());
  trace.beginPart('late').end();
  trace.beginCall('late', {}).end();
  trace.end({}, undefined, clock.monotonicMs());
  expect(spans).toHaveLength(count);
  expect(spans.at(-1)).toMatchObject({ error: 'status 504', attributes: { code: 504 } });
});
