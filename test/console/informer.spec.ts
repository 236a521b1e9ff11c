import { join } from 'node:path';
import { packageRoot } from '../../src/config/config-files.js';
import { eventually } from '../harness/eventually.js';

const object = (name: string, resourceVersion: string) => ({ metadata: { name, uid: name, resourceVersion } });
const event = (type: string, value: object) => `${JSON.stringify({ type, object: value })}\n`;
const list = (resourceVersion: string, names: readonly string[], next = '') => ({
  metadata: { resourceVersion, continue: next },
  items: names.map((name) => object(name, '1')),
});

type Answer = object | string | { readonly status: number };
const noAnswer = { isUnanswered: true };

/** A server whose answers are a list; the last one stays open. Records the queries of lists and watches. */
class ScriptedConnection extends EventTarget {
  readonly queries: string[] = [];

  constructor(private readonly answers: Answer[]) {
    super();
  }

  async json(url: string) {
    return this.next(url);
  }

  async send(url: string, { signal }: { signal: AbortSignal }) {
    const answer = this.next(url);
    if (typeof answer === 'object' && 'status' in answer) {
      return { ok: false, status: answer.status, text: async () => 'refused' };
    }
    const isLast = this.answers.length === 0;
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(answer as string));
        if (!isLast) controller.close();
        else signal.addEventListener('abort', () => controller.error(new Error('aborted')));
      },
    });
    return { ok: true, status: 200, body };
  }

  failure({ status }: { status: number }, text: string) {
    return Object.assign(new Error(text), { status });
  }

  private next(url: string): Answer {
    const query = new URLSearchParams(url.split('?')[1]);
    query.delete('timeoutSeconds');
    this.queries.push(query.toString());
    const answer = this.answers.shift()!;
    if (answer === noAnswer) throw Object.assign(new Error('no answer'), noAnswer);
    return answer;
  }
}

async function followed(
  answers: Answer[],
  isDone: (seen: readonly string[]) => boolean,
  { areOthersAnswered = false } = {},
) {
  const { Informer } = await import(join(packageRoot, 'console/api/informer.js'));
  const connection = new ScriptedConnection(answers);
  const seen: string[] = [];
  const informer = new Informer(
    connection,
    { path: '/api/v1/pods' },
    {
      reset: () => seen.push('reset'),
      objects: (entries: { metadata: { name: string } }[]) =>
        entries.forEach(({ metadata }) => seen.push(metadata.name)),
      events: (events: { type: string; entry: { metadata: { name: string } }; revision: string }[]) =>
        events.forEach(({ type, entry, revision }) => seen.push(`${type} ${entry.metadata.name} ${revision}`)),
      state: (name: string) => name === 'failed' && seen.push('failed'),
    },
  ).start();
  await eventually('the informer has seen everything', () => {
    if (areOthersAnswered) connection.dispatchEvent(new Event('answered'));
    return isDone(seen);
  });
  informer.stop();
  return { seen, queries: connection.queries };
}

const watch = (revision: string) => `watch=1&allowWatchBookmarks=true&resourceVersion=${revision}`;

it('lists in pages, watches from the revision of the list, and resumes a cut watch from its last bookmark', async () => {
  const { seen, queries } = await followed(
    [
      list('', ['a'], 'more'),
      list('10', ['b']),
      event('ADDED', object('c', '11')) + event('BOOKMARK', { metadata: { resourceVersion: '15' } }),
      event('MODIFIED', object('c', '16')),
      event('DELETED', object('c', '17')),
    ],
    (all) => all.includes('DELETED c 17'),
  );
  expect(seen).toEqual(['reset', 'a', 'b', 'ADDED c 11', 'MODIFIED c 16', 'DELETED c 17']);
  expect(queries).toEqual(['limit=500', 'limit=500&continue=more', watch('10'), watch('15'), watch('16')]);
});

it.each<[name: string, answer: Answer]>([
  ['as an event', event('ERROR', { kind: 'Status', code: 410, message: 'too old' })],
  ['as the answer', { status: 410 }],
])('lists anew when the revision is too old (410 %s)', async (_, answer) => {
  const { seen, queries } = await followed(
    [list('10', ['a']), answer, list('20', ['b']), event('ADDED', object('c', '21'))],
    (all) => all.includes('ADDED c 21'),
  );
  expect(seen).toEqual(['reset', 'a', 'reset', 'b', 'ADDED c 21']);
  expect(queries).toEqual(['limit=500', watch('10'), 'limit=500', watch('20')]);
});

it('retries after a failure of the server, and ends when it is forbidden', async () => {
  const { seen, queries } = await followed(
    [list('10', ['a']), { status: 503 }, list('10', []), event('ADDED', object('b', '11')), { status: 403 }],
    (all) => all.includes('failed'),
  );
  expect(seen).toEqual(['reset', 'a', 'ADDED b 11', 'failed']);
  expect(queries).toEqual(['limit=500', watch('10'), 'limit=1', watch('10'), watch('11')]);
});

it('follows again when the rights or the definition, which a watched collection lost, come back', async () => {
  const { seen } = await followed(
    [
      list('10', ['a']),
      event('ADDED', object('b', '11')),
      { status: 404 },
      list('11', []),
      event('ADDED', object('c', '12')),
    ],
    (all) => all.includes('ADDED c 12'),
  );
  expect(seen).toEqual(['reset', 'a', 'ADDED b 11', 'failed', 'ADDED c 12']);
});

it('shows the objects of before until a list that is made anew is complete', async () => {
  const { seen } = await followed(
    [
      list('10', ['a']),
      { status: 410 },
      list('', ['b'], 'more'),
      { status: 410 },
      list('', ['b'], 'more'),
      list('20', ['c']),
      event('ADDED', object('d', '21')),
    ],
    (all) => all.includes('ADDED d 21'),
  );
  expect(seen).toEqual(['reset', 'a', 'reset', 'b', 'c', 'ADDED d 21']);
});

it('tries again at once when the server answers another request', async () => {
  // The pauses of so many attempts are longer than the patience of the test.
  const attempts = new Array<Answer>(14).fill(noAnswer);
  const { seen } = await followed(
    [list('10', ['a']), ...attempts, list('10', []), event('ADDED', object('b', '11'))],
    (all) => all.includes('ADDED b 11'),
    { areOthersAnswered: true },
  );
  expect(seen).toEqual(['reset', 'a', 'ADDED b 11']);
});

it('lists anew from a server whose store began anew: its revisions are lower', async () => {
  const { seen, queries } = await followed(
    [list('10', ['a']), { status: 503 }, list('4', []), list('4', ['b']), event('ADDED', object('c', '5'))],
    (all) => all.includes('ADDED c 5'),
  );
  expect(seen).toEqual(['reset', 'a', 'reset', 'b', 'ADDED c 5']);
  expect(queries).toEqual(['limit=500', watch('10'), 'limit=1', 'limit=500', watch('4')]);
});

it('waits longer and longer while watches end at once', async () => {
  const startMs = performance.now();
  const { queries } = await followed(
    [list('10', []), '', list('10', []), '', list('10', []), event('ADDED', object('a', '11'))],
    (all) => all.includes('ADDED a 11'),
  );
  expect(queries.filter((query) => query === watch('10'))).toHaveLength(3);
  expect(performance.now() - startMs).toBeGreaterThan(1_400);
});

it('skips lines that are not events', async () => {
  const { seen } = await followed(
    [list('10', []), `garbage\n{"type":7}\n{}\nnull\n${event('ADDED', {})}${event('ADDED', object('a', '11'))}`],
    (all) => all.includes('ADDED a 11'),
  );
  expect(seen).toEqual(['reset', 'ADDED a 11']);
});
