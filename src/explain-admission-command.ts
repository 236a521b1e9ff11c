import { readFile } from 'node:fs/promises';
import { stringifyJson } from './codec/json.js';
import { admissionText } from './explain/admission-text.js';
import { explainedObject, type AdmissionOptions } from './explain/explained-admission.js';
import { withClient, type ClientCommandOptions, type Outputs } from './kubeconfig-client/with-client.js';
import { ClientError } from './kubeconfig-client/client-error.js';
import { objectsOf } from './kubeconfig-client/manifest-objects.js';

export interface ExplainAdmissionOptions extends AdmissionOptions, ClientCommandOptions {
  readonly filename?: string;
  readonly output: 'text' | 'json';
}

/** Runs `keelson explain-admission` and returns its exit code: 0 if all is admitted, 1 if not, 2 after an error. */
export async function runExplainAdmission(
  words: readonly string[],
  options: ExplainAdmissionOptions,
  { stdout, stderr }: Outputs,
): Promise<number> {
  const tell = (line: string) => void stderr.write(`keelson explain-admission: ${line}\n`);
  const { filename = '', output } = options;
  if (filename === '' || words.length > 0) {
    tell('give -f FILE and no other words; see keelson explain-admission --help');
    return 2;
  }
  return withClient(options, tell, async (client) => {
    let isRefused = false;
    for (const [index, object] of objectsOf(await bytesOf(filename), filename).entries()) {
      const explained = await explainedObject(client, object, options);
      isRefused ||= explained.code >= 400;
      const text = output === 'json' ? `${stringifyJson(explained.explanation)}\n` : admissionText(explained);
      stdout.write(index > 0 && output === 'text' ? `\n${text}` : text);
    }
    return isRefused ? 1 : 0;
  });
}

async function bytesOf(filename: string): Promise<Buffer> {
  if (filename === '-') {
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  }
  try {
    return await readFile(filename);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new ClientError('Kubeconfig', `${filename} cannot be read: ${problem}`);
  }
}
