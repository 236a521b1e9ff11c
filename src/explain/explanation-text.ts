import { ruleText } from '../auth/required-rule.js';
import { asFields, asItems, asText, asTexts, type Fields } from '../machinery/fields.js';
import { printable } from '../std/printable.js';
import type { AnsweredReview } from './answered-review.js';

/** Returns the chain of authorizers as a table, with the grant below the authorizer that allows. */
export function explanationText({ request, isAllowed, status, explanation }: AnsweredReview): string {
  const lines = [`${isAllowed ? 'allowed' : status['denied'] === true ? 'denied' : 'not allowed'}: ${request}`];
  const problem = asText(status['evaluationError']);
  if (problem !== '') lines.push(`problem: ${problem}`);
  if (explanation) lines.push('', ...chainLines(explanation));
  else lines.push(`reason: ${asText(status['reason']) || '-'}`);
  if (!isAllowed && status['denied'] !== true && explanation) {
    lines.push('', `An RBAC rule that allows it: ${ruleOf(asFields(explanation['requiredRule']))}`);
  }
  return lines.map(printable).join('\n') + '\n';
}

function chainLines(explanation: Fields): string[] {
  const rows = asItems(explanation['authorizers']).flatMap((authorizer) => [
    [asText(authorizer['name']), asText(authorizer['decision']), asText(authorizer['reason'])],
    ...grantRows(asFields(authorizer['grant'])),
  ]);
  const table = [['AUTHORIZER', 'DECISION', 'REASON'], ...rows];
  const width = (column: number) => Math.max(...table.map((row) => row[column]!.length));
  const widths = [width(0), width(1)];
  return table.map(([name, decision, reason]) =>
    `${name!.padEnd(widths[0]!)}  ${decision!.padEnd(widths[1]!)}  ${reason}`.trimEnd(),
  );
}

function grantRows(grant: Fields): string[][] {
  if (Object.keys(grant).length === 0) return [];
  return [
    ['  binding', '', objectText(asFields(grant['binding']))],
    ['  role', '', objectText(asFields(grant['role']))],
    ['  rule', '', ruleOf(asFields(grant['rule']))],
  ];
}

function objectText(object: Fields): string {
  const namespace = asText(object['namespace']);
  return `${asText(object['kind'])} ${namespace === '' ? '' : `${namespace}/`}${asText(object['name'])}`;
}

const ruleOf = (rule: Fields): string =>
  ruleText(Object.fromEntries(Object.entries(rule).map(([field, values]) => [field, asTexts(values)])));
