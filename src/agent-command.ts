import { startAgent } from './agent/agent.js';
import { loadAgentOptions } from './agent/options/load-agent-options.js';
import { makeLogger } from './assembly/logging.js';
import { UndoSteps } from './assembly/undo-steps.js';
import { holdProcess, systemClock } from './std/clock.js';
import { systemRng } from './std/rng.js';

interface Outputs {
  readonly stderr: { write(text: string): unknown };
}

/** A started agent. `summary` is printed once signals stop it. */
interface StartedAgent {
  readonly summary: string;
  readonly stop: () => Promise<void>;
}

/** Runs `keelson agent`. Returns undefined if it does not start; the reason is printed. */
export async function runAgent(words: readonly string[], { stderr }: Outputs): Promise<StartedAgent | undefined> {
  const loaded = loadAgentOptions(words);
  if (loaded.errors) {
    for (const error of loaded.errors) stderr.write(`keelson agent: ${error}\n`);
    stderr.write('keelson agent: not started; see keelson agent --help\n');
    return undefined;
  }
  const { options } = loaded;
  const undo = new UndoSteps();
  const logger = makeLogger(options.log);
  try {
    const agent = await startAgent({ options, undo, logger, clock: systemClock, rng: systemRng });
    const hold = holdProcess();
    undo.add(() => hold.cancel());
    const summary = `Serving node ${options.nodeName}${agent.url === undefined ? '' : ` at ${agent.url}`}\n`;
    return { summary, stop: () => undo.run() };
  } catch (error) {
    await undo.run(() => undefined);
    stderr.write(`keelson agent: the agent did not start: ${error instanceof Error ? error.message : String(error)}\n`);
    return undefined;
  }
}
