import { TraceCollector, type CollectorBehaviour } from '../../test/harness/trace-collector.js';
import { systemClock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import { Span, spanKinds, type SpanOwner } from './span.js';
import { SpanExporter } from './span-exporter.js';

const owner: SpanOwner = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  traceState: 'a=1',
  epochMs: Date.UTC(2026, 0, 1),
  nowMs: () => 1,
  ended: () => undefined,
};
const spanOf = (attributes = {}) =>
  new Span(owner, 'name', spanKinds.client, 'b7ad6b7169203331', '', 0.125, attributes);

function exporterFor({ endpoint }: { readonly endpoint: string }) {
  const warnings: unknown[] = [];
  const logger: Logger = {
    debug: () => undefined,
    info: () => undefined,
    warn: (...line) => void warnings.push(line),
    error: () => undefined,
  };
  return { exporter: new SpanExporter({ url: `http://${endpoint}`, clock: systemClock, logger }), warnings };
}

it('a collector gets names, times, attributes, events, links and errors as they are', async () => {
  const collector = await TraceCollector.start();
  const { exporter, warnings } = exporterFor(collector);
  const span = spanOf({ text: 'ä', whole: 42, negative: -1, part: 0.5, flag: true, __proto__: null });
  span.event('event', { size: 3 }, 0.5);
  span.link = { traceId: '1'.repeat(32), spanId: '2'.repeat(16), isSampled: true, traceState: '' };
  span.end('failed', 2.001);
  exporter.add(span);
  await exporter.close(60_000);
  await collector.stop();
  expect(collector.spans).toEqual([
    {
      traceId: owner.traceId,
      spanId: 'b7ad6b7169203331',
      parentSpanId: '',
      traceState: 'a=1',
      name: 'name',
      kind: 3,
      startMs: owner.epochMs + 0.125,
      endMs: owner.epochMs + 2.001,
      attributes: { text: 'ä', whole: 42, negative: -1, part: 0.5, flag: true },
      events: [{ name: 'event', attributes: { size: 3 } }],
      links: [{ traceId: '1'.repeat(32), spanId: '2'.repeat(16) }],
      status: { code: 2, message: 'failed' },
      resource: { 'service.name': 'apiserver' },
    },
  ]);
  expect(warnings).toEqual([]);
  expect(exporter.counts).toEqual({ exported: 1, dropped: 0 });
});

it.each<CollectorBehaviour>(['refuse', 'garbage', 'huge', 'drop'])(
  'spans are dropped if the collector answers with %s, with one short warning',
  async (behaviour) => {
    const collector = await TraceCollector.start();
    collector.behaviour = behaviour;
    const { exporter, warnings } = exporterFor(collector);
    for (let i = 0; i < 3; i++) exporter.add(spanOf());
    await exporter.close(60_000);
    await collector.stop();
    expect(exporter.counts).toEqual({ exported: 0, dropped: 3 });
    expect(collector.calls).toBe(1);
    expect(warnings).toHaveLength(2);
    expect(JSON.stringify(warnings).length).toBeLessThan(1_000);
  },
);

it('a closed exporter drops spans', async () => {
  const { exporter } = exporterFor({ endpoint: '127.0.0.1:1' });
  await exporter.close(1);
  exporter.add(spanOf());
  expect(exporter.counts).toEqual({ exported: 0, dropped: 1 });
});

it('a span keeps 1,024 characters of an attribute and 32 events', () => {
  const span = spanOf({ long: 'x'.repeat(70_000) });
  for (let i = 0; i < 40; i++) span.event('event');
  expect(span.attributes['long']).toHaveLength(1_024);
  expect(span.events).toHaveLength(32);
  expect(span.droppedEvents).toBe(8);
});
