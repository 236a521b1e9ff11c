import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withClient, type ClientCommandOptions, type Outputs } from './kubeconfig-client/with-client.js';
import { RecordingFile } from './recording/recording-file.js';
import { RecordingError } from './recording/recording-lines.js';
import { startRecordingProxy } from './recording/recording-proxy.js';
import { runProgram } from './run-program.js';
import { holdProcess, systemClock } from './std/clock.js';

export interface RecordOptions extends ClientCommandOptions {
  readonly output: string;
}

const notStarted = 125;
const notFound = 127;

/**
 * Records the requests of a program, or without one until a signal. Returns the exit code of the program, 125 if the
 * recording could not be written, 127 without the program.
 */
export async function runRecord(
  program: readonly string[],
  { output, ...options }: RecordOptions,
  { stdout, stderr }: Outputs,
): Promise<number> {
  const tell = (line: string) => void stderr.write(`keelson record: ${line}\n`);
  let hasStarted = false;
  const code = await withClient(options, tell, async (api) => {
    let file: RecordingFile | undefined;
    const directory = await mkdtemp(join(tmpdir(), 'keelson-record-'));
    try {
      file = await RecordingFile.create(output);
      const proxy = await startRecordingProxy(api, file, { clock: systemClock });
      hasStarted = true;
      const kubeconfig = join(directory, 'kubeconfig');
      await writeFile(kubeconfig, proxy.kubeconfig, { mode: 0o600 });
      const exitCode = await runUntilEnd(program, kubeconfig, stdout);
      await proxy.stop();
      const opened = file;
      file = undefined;
      await opened.close();
      tell(`${proxy.exchangeCount} requests are in ${output}`);
      if (exitCode !== undefined) return exitCode;
      tell(`cannot run ${program[0]}: check that it is installed and on PATH`);
      return notFound;
    } catch (error) {
      if (!(error instanceof RecordingError)) throw error;
      tell(error.message);
      return notStarted;
    } finally {
      await file?.close();
      await rm(directory, { recursive: true });
    }
  });
  return hasStarted ? code : notStarted;
}

async function runUntilEnd(
  [name, ...words]: readonly string[],
  kubeconfig: string,
  stdout: Outputs['stdout'],
): Promise<number | undefined> {
  if (name !== undefined) return runProgram(name, words, { ...process.env, KUBECONFIG: kubeconfig });
  stdout.write(`Recording requests of clients with KUBECONFIG=${kubeconfig}; ends with SIGINT or SIGTERM\n`);
  const hold = holdProcess();
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  hold.cancel();
  return 0;
}
