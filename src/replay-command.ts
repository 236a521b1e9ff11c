import { withClient, type ClientCommandOptions, type Outputs } from './kubeconfig-client/with-client.js';
import { RecordingError } from './recording/recording-lines.js';
import { replay, type Difference } from './recording/replay.js';
import { systemClock } from './std/clock.js';
import { printable } from './std/printable.js';

export interface ReplayCommandOptions extends ClientCommandOptions {
  readonly ignore: readonly string[];
  /** Seconds. */
  readonly eventTimeout: number;
  /** Maximum number of differing answers to list. */
  readonly differences: number;
}

/** Replays a recording. Returns 0 if all answers are the same, 1 if some differ, 2 after an error. */
export async function runReplay(
  words: readonly string[],
  { ignore, eventTimeout, differences: shownMax, ...options }: ReplayCommandOptions,
  { stdout, stderr }: Outputs,
): Promise<number> {
  const tell = (line: string) => void stderr.write(`keelson replay: ${line}\n`);
  const [path, ...others] = words;
  if (path === undefined || others.length > 0 || !(eventTimeout >= 0) || !(shownMax >= 0)) {
    tell('give one recording, and numbers for --event-timeout and --differences; see keelson replay --help');
    return 2;
  }
  const wrong = ignore.find((pointer) => !pointer.startsWith('/'));
  if (wrong !== undefined) {
    tell(`--ignore ${wrong}: give a JSON pointer, such as /metadata/labels`);
    return 2;
  }
  let shown = 0;
  const onDifference = ({ line, subject, differences }: Difference) => {
    if (shown++ >= shownMax) return;
    const lines = [`line ${line}: ${subject}`, ...differences.map((one) => `  ${one}`)];
    stdout.write(lines.map((one) => `${printable(one)}\n`).join(''));
  };
  return withClient(options, tell, async (api) => {
    try {
      const run = { ignored: ignore, eventsMsMax: eventTimeout * 1000, clock: systemClock, onDifference };
      const { requests, events, differing, skipped } = await replay(path, api, run);
      if (differing > shownMax)
        stdout.write(`${differing - shownMax} more; list them with --differences ${differing}\n`);
      for (const [why, count] of skipped) tell(printable(`${count} requests were not sent: ${why}`));
      tell(
        `${requests} requests and ${events} events: ${differing === 0 ? 'no answer differs' : `${differing} differ`}`,
      );
      return differing === 0 ? 0 : 1;
    } catch (error) {
      if (!(error instanceof RecordingError)) throw error;
      tell(error.message);
      return 2;
    }
  });
}
