import { stringifyJson } from './codec/json.js';
import { answeredReview, type ReviewOptions } from './explain/answered-review.js';
import { explanationText } from './explain/explanation-text.js';
import { withClient, type ClientCommandOptions, type Outputs } from './kubeconfig-client/with-client.js';

export interface ExplainOptions extends ReviewOptions, ClientCommandOptions {
  readonly as?: string;
  readonly output: 'text' | 'json';
}

/** Runs `keelson explain-access` and returns its exit code: 0 if the request is allowed, 1 if not, 2 after an error. */
export async function runExplain(
  words: readonly string[],
  options: ExplainOptions,
  { stdout, stderr }: Outputs,
): Promise<number> {
  const tell = (line: string) => void stderr.write(`keelson explain-access: ${line}\n`);
  const [verb = '', target = '', ...others] = words;
  const { as: user = '', output } = options;
  if (verb === '' || target === '' || others.length > 0 || user === '') {
    tell('give --as USER, a verb and a resource; see keelson explain-access --help');
    return 2;
  }
  return withClient(options, tell, async (client) => {
    const answer = await answeredReview(client, { user, verb, target, options, tell });
    if (!answer.explanation) tell('the server does not explain decisions: the reason is all that it returns');
    stdout.write(output === 'json' ? `${stringifyJson(answer.json)}\n` : explanationText(answer));
    return answer.isAllowed ? 0 : 1;
  });
}
