import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { atOnce, type Steps } from '../std/steps.js';
import { AdmissionCompiler, type AdmissionField } from './admission-compiler.js';
import { compileDeviceSelector } from './device-selector.js';
import type { CompiledExpression } from './environment.js';

// Expressions with the answers of kube-apiserver; see fixtures/README.md.
interface Row {
  readonly field: AdmissionField | 'device';
  readonly stored?: boolean;
  readonly params?: boolean;
  readonly variables?: string;
  readonly expr: string;
  readonly answer: string;
  readonly cost?: string;
}

const fixture = (name: string) => readFileSync(join(__dirname, 'fixtures', name), 'utf8');
const variablesByName = JSON.parse(fixture('variables.json')) as Record<string, [name: string, expression: string][]>;
const rows = fixture('answers.jsonl')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Row);

function* compile({ field, stored, params, variables, expr }: Row): Steps<CompiledExpression> {
  const mode = stored === true ? 'stored' : 'new';
  if (field === 'device') return yield* compileDeviceSelector(expr, mode);
  const hasVariables = variables !== undefined || field === 'applyConfiguration' || field === 'jsonPatch';
  const compiler = new AdmissionCompiler({ hasParams: params === true, hasVariables });
  for (const [name, expression] of variablesByName[variables ?? ''] ?? [])
    yield* compiler.compileVariable(name, expression, mode);
  if (field === 'variable') return yield* compiler.compileVariable('v', expr, mode);
  return yield* compiler.compile(field, expr, mode);
}

const compiled = (row: Row) => atOnce(compile(row));

it.each(['matchCondition', 'variable', 'validation', 'message', 'auditAnnotation', 'applyConfiguration', 'jsonPatch'])(
  'the answers to expressions of %s are those of kube-apiserver',
  (field) => {
    const own = rows.filter((row) => row.field === field);
    expect(own.length).toBeGreaterThan(50);
    const answers = own.map((row) => ({ expr: row.expr, answer: compiled(row).problem?.text ?? '' }));
    expect(answers).toEqual(own.map(({ expr, answer }) => ({ expr, answer })));
  },
);

it('the answers and estimated costs of selectors of devices are those of kube-apiserver', () => {
  const own = rows.filter((row) => row.field === 'device');
  const answers = own.map((row) => {
    const answer = compiled(row);
    return { expr: row.expr, answer: answer.problem?.text ?? '', cost: answer.problem ? '' : String(answer.costMax) };
  });
  expect(answers).toEqual(own.map(({ expr, answer, cost = '' }) => ({ expr, answer, cost })));
});
