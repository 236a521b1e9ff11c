import { spawn, type ChildProcess } from 'node:child_process';
import type { Clock } from '../std/clock.js';
import { codeOf, reasonOf } from './client-error.js';
import type { PluginSettings } from './kubeconfig.js';

interface PluginRun {
  readonly plugin: PluginSettings;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** True gives the plug-in the standard input of this process, and shows its standard error at once. */
  readonly isInteractive: boolean;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Creates the error for a problem. */
  readonly failure: (problem: string, cause?: unknown) => Error;
  /** Gets the shortened standard error of a plug-in that succeeded. */
  readonly onMessage: (text: string) => void;
}

/** Certificates with their intermediates, base64-encoded, have a tenth. */
const outputBytesMax = 1024 * 1024;
/** Kept from the end of standard error: the last lines name the problem. */
const messageBytesMax = 1_000;

/** Runs a plug-in without a shell, and resolves with its standard output. */
export function runPlugin(run: PluginRun): Promise<Buffer> {
  const { plugin, env, isInteractive, timeoutMs, clock, signal, failure } = run;
  return new Promise((resolve, reject) => {
    let child: ChildProcess;
    try {
      child = spawn(plugin.command, plugin.args, {
        env,
        stdio: [isInteractive ? 'inherit' : 'ignore', 'pipe', 'pipe'],
        windowsHide: true,
      });
    } catch (error) {
      return reject(startFailure(run, error));
    }
    const chunks: Buffer[] = [];
    let length = 0;
    let message = Buffer.alloc(0);
    // A child of a plug-in that was killed may keep its pipes open.
    const settle = (finish: () => void) => {
      timer.cancel();
      signal.removeEventListener('abort', aborted);
      child.stdout?.destroy();
      child.stderr?.destroy();
      finish();
    };
    const kill = (error: Error) => {
      child.kill('SIGKILL');
      settle(() => reject(error));
    };
    const timer = clock.after(timeoutMs, () =>
      kill(failure(`it did not end in ${timeoutMs} ms${shownMessage(message)}`)),
    );
    const aborted = () => kill(failure('the client was closed'));
    signal.addEventListener('abort', aborted, { once: true });
    child.on('error', (error) => settle(() => reject(startFailure(run, error))));
    child.stdout!.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > outputBytesMax) kill(failure(`its output has more than ${outputBytesMax} bytes`));
      else chunks.push(chunk);
    });
    child.stderr!.on('data', (chunk: Buffer) => {
      if (isInteractive) process.stderr.write(chunk);
      message = Buffer.concat([message, chunk]).subarray(-messageBytesMax);
    });
    child.on('close', (status, killedBy) => {
      if (status !== 0) {
        const end = killedBy === null ? `it ended with exit code ${status}` : `it was ended by ${killedBy}`;
        return settle(() => reject(failure(`${end}${shownMessage(message)}`)));
      }
      settle(() => resolve(Buffer.concat(chunks)));
      if (message.length > 0 && !isInteractive) run.onMessage(printable(message));
    });
  });
}

function startFailure({ plugin, failure }: PluginRun, error: unknown): Error {
  const code = codeOf(error);
  const hint = plugin.installHint === undefined ? '' : `\n\n${plugin.installHint}`;
  if (code === 'ENOENT') {
    const advice = plugin.command.includes('/') ? 'correct command' : 'install it, or add its directory to PATH';
    return failure(`the executable was not found; ${advice}${hint}`, error);
  }
  if (code === 'EACCES') return failure('it may not be executed; make it executable', error);
  return failure(`it could not be started: ${reasonOf(error)}`, error);
}

function shownMessage(message: Buffer): string {
  const text = printable(message);
  return text === '' ? '' : `: ${text}`;
}

/** Replaces control characters, which could change what a terminal or a log shows. */
function printable(message: Buffer): string {
  return message
    .toString('utf8')
    .trim()
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '?');
}
