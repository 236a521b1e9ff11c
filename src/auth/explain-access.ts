import {
  undecided,
  type Authorization,
  type AuthorizationAttributes,
  type Authorizer,
  type Authorizers,
  type GrantDetails,
} from './authorizer.js';
import { requiredRule, type RequiredRule } from './required-rule.js';

/** The decision of one authorizer. */
interface ExplainedDecision {
  readonly name: string;
  readonly decision: Authorization['decision'] | 'not asked';
  readonly reason?: string;
  readonly grant?: GrantDetails;
}

/** The decisions of all authorizers, in their order, as the server returns them to administrators. */
interface AccessExplanation {
  readonly authorizers: readonly ExplainedDecision[];
  /** The smallest RBAC rule that allows the request. */
  readonly requiredRule: RequiredRule;
}

/**
 * Annotation of a SubjectAccessReview with the explanation as JSON, if the query has `explain=true`. Clients of the API
 * cannot have a field of ours in the status.
 */
export const explanationAnnotation = 'keelson/explanation';

/** Decides like `authorize`, and returns the decision of each authorizer too. */
export async function explainAccess(
  { chain }: Authorizers,
  attributes: AuthorizationAttributes,
): Promise<ExplainedAuthorization> {
  chain.hold();
  try {
    return await explainedBy(chain.authorizers, attributes);
  } finally {
    chain.release();
  }
}

interface ExplainedAuthorization extends Authorization {
  readonly explanation: AccessExplanation;
}

async function explainedBy(
  authorizers: readonly Authorizer[],
  attributes: AuthorizationAttributes,
): Promise<ExplainedAuthorization> {
  const decisions: ExplainedDecision[] = [];
  const passed: Authorization[] = [];
  let decided: Authorization | undefined;
  for (const authorizer of authorizers) {
    const { name } = authorizer;
    if (decided) {
      decisions.push({ name, decision: 'not asked' });
      continue;
    }
    const answer = await authorizer.authorize(attributes);
    const { decision, reason } = answer;
    const grant = decision === 'allow' ? authorizer.grantFor?.(attributes) : undefined;
    decisions.push({ name, decision, ...(reason !== '' && { reason }), ...(grant && { grant: shortened(grant) }) });
    if (decision !== 'no opinion') decided = answer;
    else if (reason !== '') passed.push(answer);
  }
  const explanation = { authorizers: decisions, requiredRule: requiredRule(attributes) };
  return { ...(decided ?? undecided(passed)), explanation };
}

/** Limit on the values of each list of a rule, since roles may have thousands. */
const listedMax = 100;

function shortened({ rule, ...grant }: GrantDetails): GrantDetails {
  const lists = Object.entries(rule).map(([field, values]: [string, readonly string[]]) => {
    const more = values.length - listedMax;
    return [field, more > 0 ? [...values.slice(0, listedMax), `… ${more} more`] : values];
  });
  return { ...grant, rule: Object.fromEntries(lists) as GrantDetails['rule'] };
}
