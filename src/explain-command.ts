import { stringifyJson } from './codec/json.js';
import { answeredReview, type ReviewOptions } from './explain/answered-review.js';
import { explanationText } from './explain/explanation-text.js';
import { ClientError } from './kubeconfig-client/client-error.js';
import type { KubeconfigClient } from './kubeconfig-client/kubeconfig-client.js';
import { openKubeconfigClient } from './kubeconfig-client/open-client.js';

export interface ExplainOptions extends ReviewOptions {
  readonly as?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly output: 'text' | 'json';
}

interface Output {
  write(text: string): unknown;
}

/** Runs `keelson explain-access` and returns its exit code: 0 if the request is allowed, 1 if not, 2 after an error. */
export async function runExplain(
  words: readonly string[],
  options: ExplainOptions,
  { stdout, stderr }: { readonly stdout: Output; readonly stderr: Output },
): Promise<number> {
  const tell = (line: string) => void stderr.write(`keelson explain-access: ${line}\n`);
  const [verb = '', target = '', ...others] = words;
  const { as: user = '', kubeconfig: file, context, output } = options;
  if (verb === '' || target === '' || others.length > 0 || user === '') {
    tell('give --as USER, a verb and a resource; see keelson explain-access --help');
    return 2;
  }
  let client: KubeconfigClient | undefined;
  try {
    client = await openKubeconfigClient({
      ...(file !== undefined && { file }),
      ...(context !== undefined && { context }),
    });
    const answer = await answeredReview(client, { user, verb, target, options, tell });
    if (!answer.explanation) tell('the server does not explain decisions: the reason is all that it returns');
    stdout.write(output === 'json' ? `${stringifyJson(answer.json)}\n` : explanationText(answer));
    return answer.isAllowed ? 0 : 1;
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    tell(error.message);
    return 2;
  } finally {
    client?.close();
  }
}
