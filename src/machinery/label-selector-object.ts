import { goQuote } from './field-error.js';
import { listed } from './listed.js';
import { validateQualifiedName } from './names.js';
import { everyLabel, LabelSelector, noLabel, type LabelOperator, type LabelRequirement } from './label-selector.js';
import { byKey, fault, requirementProblems } from './label-selector-parser.js';

/** A metav1.LabelSelectorRequirement. */
interface LabelExpression {
  readonly key?: string | undefined;
  readonly operator?: string | undefined;
  readonly values?: readonly string[] | undefined;
}

/** A metav1.LabelSelector. */
interface LabelSelectorObject {
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
  readonly matchExpressions?: readonly LabelExpression[] | undefined;
}

const operatorOfExpression = new Map<string, LabelOperator>([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
]);

/** An absent LabelSelector matches nothing, an empty one everything. */
export function labelSelectorOf(object: LabelSelectorObject | null | undefined): LabelSelector {
  if (object === undefined || object === null) return noLabel;
  const requirements: LabelRequirement[] = [];
  for (const [key, value] of Object.entries(object.matchLabels ?? {})) {
    requirements.push(checked({ key, operator: '=', values: [value] }));
  }
  for (const { key = '', operator: name = '', values = [] } of object.matchExpressions ?? []) {
    const operator = operatorOfExpression.get(name);
    if (operator === undefined) throw fault(`${goQuote(name)} is not a valid label selector operator`);
    requirements.push(checked({ key, operator, values: [...new Set(values)].sort() }));
  }
  return requirements.length === 0 ? everyLabel : new LabelSelector(requirements.sort(byKey));
}

/** Returns the requirement of a valid expression; undefined if its operator is unknown. */
export function labelRequirementOf({ key = '', operator: name = '', values = [] }: LabelExpression) {
  const operator = operatorOfExpression.get(name);
  return operator && ({ key, operator, values: [...new Set(values)].sort() } satisfies LabelRequirement);
}

function checked(requirement: LabelRequirement): LabelRequirement {
  const { key, operator, values } = requirement;
  const problems = validateQualifiedName(key).map((problem) => `key: Invalid value: ${goQuote(key)}: ${problem}`);
  if ((operator === 'in' || operator === 'notin') && values.length === 0) {
    problems.push("values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty");
  }
  if ((operator === 'exists' || operator === '!') && values.length > 0) {
    problems.push(
      `values: Invalid value: [${values.map(goQuote).join(',')}]: values set must be empty for exists and does not exist`,
    );
  }
  problems.push(...requirementProblems(requirement));
  if (problems.length > 0) throw fault(listed(problems));
  return requirement;
}
