import { readFile } from 'node:fs/promises';
import { stringifyJson } from './codec/json.js';
import { admissionText } from './explain/admission-text.js';
import { explainedObject, objectsOf, type AdmissionOptions } from './explain/explained-admission.js';
import { ClientError } from './kubeconfig-client/client-error.js';
import type { KubeconfigClient } from './kubeconfig-client/kubeconfig-client.js';
import { openKubeconfigClient } from './kubeconfig-client/open-client.js';

export interface ExplainAdmissionOptions extends AdmissionOptions {
  readonly filename?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly output: 'text' | 'json';
}

interface Output {
  write(text: string): unknown;
}

/** Runs `keelson explain-admission` and returns its exit code: 0 if all is admitted, 1 if not, 2 after an error. */
export async function runExplainAdmission(
  words: readonly string[],
  options: ExplainAdmissionOptions,
  { stdout, stderr }: { readonly stdout: Output; readonly stderr: Output },
): Promise<number> {
  const tell = (line: string) => void stderr.write(`keelson explain-admission: ${line}\n`);
  const { filename = '', kubeconfig: file, context, output } = options;
  if (filename === '' || words.length > 0) {
    tell('give -f FILE and no other words; see keelson explain-admission --help');
    return 2;
  }
  let client: KubeconfigClient | undefined;
  try {
    const objects = objectsOf(await bytesOf(filename), filename);
    client = await openKubeconfigClient({
      ...(file !== undefined && { file }),
      ...(context !== undefined && { context }),
    });
    let isRefused = false;
    for (const [index, object] of objects.entries()) {
      const explained = await explainedObject(client, object, options);
      isRefused ||= explained.code >= 400;
      const text = output === 'json' ? `${stringifyJson(explained.explanation)}\n` : admissionText(explained);
      stdout.write(index > 0 && output === 'text' ? `\n${text}` : text);
    }
    return isRefused ? 1 : 0;
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    tell(error.message);
    return 2;
  } finally {
    client?.close();
  }
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
