import { Session, type Profiler } from 'node:inspector';

/**
 * Runs inside the server under attack, loaded by `node --import`: collects garbage before memory is measured, checks
 * prototypes, and takes CPU profiles of requests.
 */
export type ObserverCommand = 'measure' | 'startProfile' | 'stopProfile';

export interface Observation {
  readonly residentMiB: number;
  readonly heapMiB: number;
  /** Properties that were added to shared prototypes. */
  readonly polluted: readonly string[];
  /** Functions with the most CPU time in the longest turn of the event loop, if a profile was stopped. */
  readonly hot: readonly string[];
}

const prototypes = [Object.prototype, Array.prototype, Function.prototype, String.prototype];
const namesAtStart = prototypes.map((prototype) => new Set(Reflect.ownKeys(prototype)));
let session: Session | undefined;

/** Start of turns of the event loop, in µs of the profile: work that yields continues in a setImmediate callback. */
let turnStarts: number[] | undefined;
const { setImmediate: scheduled } = globalThis;
const noted = (callback: (...values: unknown[]) => void, ...values: unknown[]) =>
  scheduled(() => {
    turnStarts?.push(Number(process.hrtime.bigint() / 1_000n));
    callback(...values);
  });
globalThis.setImmediate = noted as typeof setImmediate;

const polluted = () =>
  prototypes.flatMap((prototype, at) =>
    Reflect.ownKeys(prototype)
      .filter((name) => !namesAtStart[at]!.has(name))
      .map(String),
  );

function observation(hot: readonly string[] = []): Observation {
  const { rss, heapUsed } = process.memoryUsage();
  return { residentMiB: rss / 2 ** 20, heapMiB: heapUsed / 2 ** 20, polluted: polluted(), hot };
}

process.on('message', ({ command }: { command: ObserverCommand }) => {
  if (command === 'measure') {
    globalThis.gc?.();
    globalThis.gc?.();
    process.send!(observation());
  } else if (command === 'startProfile') {
    session ??= connected();
    turnStarts = [];
    session.post('Profiler.start', () => process.send!(observation()));
  } else {
    session?.post('Profiler.stop', (_error, result) => process.send!(observation(hotFunctions(result?.profile))));
  }
});
process.channel?.unref();
// Ends with the run, however that ended.
process.once('disconnect', () => process.exit(1));

function connected(): Session {
  const made = new Session();
  made.connect();
  made.post('Profiler.enable');
  made.post('Profiler.setSamplingInterval', { interval: 1_000 });
  return made;
}

/** Sums the samples of the turn with the most CPU time. */
function longestTurn({ samples = [], timeDeltas = [], nodes, startTime }: Profiler.Profile): Map<number, number> {
  const idle = new Set(nodes.filter(({ callFrame }) => callFrame.functionName === '(idle)').map(({ id }) => id));
  const starts = turnStarts ?? [];
  let [longest, longestMs] = [new Map<number, number>(), 0];
  let [turn, turnMs] = [new Map<number, number>(), 0];
  let next = 0;
  let time = startTime;
  samples.forEach((id, at) => {
    time += timeDeltas[at]!;
    if (starts[next] !== undefined && starts[next]! < time) {
      while (starts[next] !== undefined && starts[next]! < time) next++;
      [turn, turnMs] = [new Map(), 0];
    }
    const ms = timeDeltas[at]! / 1_000;
    if (idle.has(id)) [turn, turnMs] = [new Map(), 0];
    else {
      turn.set(id, (turn.get(id) ?? 0) + ms);
      turnMs += ms;
    }
    if (turnMs > longestMs) [longest, longestMs] = [turn, turnMs];
  });
  return longest;
}

/** Functions with the most self time, with their callers up to the first non-recursive one. */
function hotFunctions(profile: Profiler.Profile | undefined): string[] {
  if (!profile?.samples || !profile.timeDeltas) return [];
  const parents = new Map<number, number>();
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  for (const { id, children } of profile.nodes) for (const child of children ?? []) parents.set(child, id);
  const selfMs = longestTurn(profile);
  const nameOf = (id: number) => {
    const { functionName, url, lineNumber } = nodes.get(id)!.callFrame;
    return `${functionName || '(anonymous)'}@${url.split('/').at(-1)}:${lineNumber + 1}`;
  };
  const byStack = new Map<string, number>();
  for (const [id, ms] of selfMs) {
    const stack = [nameOf(id)];
    for (let at = parents.get(id); at !== undefined && stack.length < 7; at = parents.get(at))
      if (stack.at(-1) !== nameOf(at)) stack.push(nameOf(at));
    const text = stack.join(' < ');
    byStack.set(text, (byStack.get(text) ?? 0) + ms);
  }
  return [...byStack]
    .filter(([text]) => !text.startsWith('dispatch@') && !text.startsWith('(program)'))
    .sort((a, b) => b[1] - a[1])
    .slice(0, 6)
    .map(([text, ms]) => `${ms.toFixed(0)} ms ${text}`);
}
