import { mkdtemp, rm } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startAgent, type RunningAgent } from '../../src/agent/agent.js';
import { loadAgentOptions } from '../../src/agent/options/load-agent-options.js';
import type { Limits } from '../../src/config/limits.js';
import { UndoSteps } from '../../src/assembly/undo-steps.js';
import { systemClock, type Clock } from '../../src/std/clock.js';
import { silentLogger, type Logger } from '../../src/std/logger.js';
import { systemRng } from '../../src/std/rng.js';
import { HttpClient, type ClientOptions } from './http-client.js';

/** An agent in this process, on a free port of 127.0.0.1, with a directory of its own. */
export interface TestAgent extends RunningAgent {
  readonly url: string;
  readonly directory: string;
  /** A client with options, anonymous by default. Closed by stop(). */
  client(options?: Partial<ClientOptions>): HttpClient;
  stop(): Promise<void>;
}

/** Starts an agent with these flags. */
export async function startTestAgent(
  flags: readonly string[],
  {
    clock = systemClock,
    logger = silentLogger,
    limits = {},
  }: { readonly clock?: Clock; readonly logger?: Logger; readonly limits?: Partial<Limits> } = {},
): Promise<TestAgent> {
  const undo = new UndoSteps();
  const directory = await mkdtemp(join(tmpdir(), 'keelson-agent-'));
  undo.add(() => rm(directory, { recursive: true, force: true }));
  try {
    const own = [
      '--address=127.0.0.1',
      '--port=0',
      '--healthz-port=0',
      `--root-dir=${directory}`,
      '--node-name=node-1',
    ];
    const loaded = loadAgentOptions([...own, '--register-node=false', '--node-ip=127.0.0.1', ...flags]);
    if (loaded.errors) throw new Error(loaded.errors.join('\n'));
    const { options } = loaded;
    const agent = await startAgent({ options, undo, logger, clock, rng: systemRng }, limits);
    const url = agent.url!;
    const ca = readFileSync(options.serving.tlsCertFile ?? join(options.certDirectory, 'kubelet.crt'), 'utf8');
    const client = (given: Partial<ClientOptions> = {}) => {
      const made = new HttpClient({ url, ca, ...given });
      undo.add(() => made.close());
      return made;
    };
    return { ...agent, url, directory, client, stop: () => undo.run() };
  } catch (error) {
    await undo.run(() => undefined);
    throw error;
  }
}
