import type { Schema } from './declared/schema-type.js';
import { schemaType } from './declared/schema-type.js';
import { kubernetesEnvironment } from './kubernetes.js';
import type { AccessCheck } from './libraries/kubernetes/authorizer.js';
import {
  AccessDecisions,
  Authorizer,
  authorizerType,
  evaluateWithAuthorizer,
} from './libraries/kubernetes/authorizer.js';
import { re2Engine } from './re2-engine.js';

const regex = re2Engine();
const costLimit = 1_000_000;
const environmentOf = (schema: Schema, minor = 36, mode: 'new' | 'stored' = 'new') =>
  kubernetesEnvironment({
    regex,
    compatibilityVersion: { major: 1, minor },
    mode,
    variables: { self: schemaType(schema, 'Widget')!, authorizer: authorizerType },
  });

function programOf(schema: Schema, expression: string) {
  const compiled = environmentOf(schema).compile(expression);
  if (!compiled.isOk) throw new Error(compiled.message);
  if (compiled.program instanceof Error) throw compiled.program;
  return compiled.program;
}
const evaluate = (schema: Schema, expression: string, self: unknown) =>
  programOf(schema, expression).evaluate({ self }, { costLimit });

describe('Environment', () => {
  it.each<[string, Schema, string, unknown, unknown]>([
    ['bytes in the alphabet of URLs', { type: 'string', format: 'byte' }, 'self.size()', 'w6Q_-w==', 4],
    ['durations of days', { type: 'string', format: 'duration' }, 'self.getHours()', '3 days', 72],
    ['dates without a time', { type: 'string', format: 'date' }, 'self.getFullYear()', '2024-02-29', 2024],
    ['doubles that are whole', { type: 'number' }, 'type(self) == double', 3, true],
    ['ints beyond 2^53', { type: 'integer' }, 'self - 1', 2n ** 62n, 2n ** 62n - 1n],
    ['ints or texts', { 'x-kubernetes-int-or-string': true }, "type(self) == int ? self > 1 : self != ''", 5, true],
    ['nulls where they may be', { type: 'array', items: { type: 'string', nullable: true } }, 'self.size()', [null], 1],
    [
      'embedded resources',
      { type: 'object', 'x-kubernetes-embedded-resource': true },
      'has(self.kind)',
      { kind: 'A' },
      true,
    ],
  ])('reads %s', (_, schema, expression, self, value) => {
    const isResource = schema['x-kubernetes-embedded-resource'] === true;
    const variables = { self: schemaType(schema, 'Widget', isResource)! };
    const compiled = kubernetesEnvironment({
      regex,
      compatibilityVersion: { major: 1, minor: 36 },
      mode: 'new',
      variables,
    }).compile(expression);
    if (!compiled.isOk || compiled.program instanceof Error) throw new Error('does not compile');
    expect(compiled.program.evaluate({ self }, { costLimit })).toMatchObject({ isOk: true, value });
  });

  it.each<[string, Schema, unknown, string]>([
    ['a text for an int', { type: 'integer' }, 'a', 'invalid data, expected int, got string'],
    ['null', { type: 'string' }, null, 'invalid data, got null for schema with nullable=false'],
    [
      'standard base64',
      { type: 'string', format: 'byte' },
      '/w==',
      'Invalid byte formatted string /w==: illegal base64 data at input byte 0',
    ],
    [
      'a duration with the name of an inherited property as its unit',
      { type: 'string', format: 'duration' },
      '5 constructor',
      'Invalid duration 5 constructor: time: invalid duration',
    ],
  ])('fails with the error of the reference for %s', (_, schema, self, error) => {
    expect(evaluate(schema, 'self == self', self)).toMatchObject({ isOk: false, error });
  });

  it('refuses functions of later releases in new expressions, and accepts them in stored ones', () => {
    const schema: Schema = { type: 'string' };
    const expression = "ip(self) == ip('10.0.0.1')";
    expect(environmentOf(schema, 29).compile(expression)).toMatchObject({
      isOk: false,
      errors: [{ line: 1, column: 2 }, { column: 14 }],
    });
    expect(environmentOf(schema, 30).compile(expression)).toMatchObject({ isOk: true });
    expect(environmentOf(schema, 29, 'stored').compile(expression)).toMatchObject({ isOk: true });
  });

  it('estimates costs by sizes that are handed in', () => {
    const environment = environmentOf({ type: 'array', items: { type: 'string' } });
    const sizes = () => ({ min: 0n, max: 7n });
    expect(environment.compile('self.all(x, true)', { sizes })).toMatchObject({ estimatedCost: { min: 2n, max: 23n } });
  });

  it('evaluates one program any number of times with the same cost', () => {
    const program = programOf({ type: 'array', items: { type: 'integer' } }, 'self.map(x, x + 1).sum()');
    const outcomes = [[1, 2], [], [1, 2]].map((self) => program.evaluate({ self }, { costLimit }));
    expect(outcomes[0]).toMatchObject({ isOk: true, value: 5 });
    expect(outcomes[1]).toMatchObject({ isOk: true, value: 0 });
    expect(outcomes[2]).toEqual(outcomes[0]);
  });
});

describe('evaluateWithAuthorizer', () => {
  it('asks once for each check that the evaluation needs', async () => {
    const check = (verb: string) => `authorizer.group('apps').resource('deployments').check('${verb}').allowed()`;
    const program = programOf({ type: 'string' }, `${check('get')} && ${check('get')} && !${check('delete')}`);
    const decisions = new AccessDecisions();
    const asked: AccessCheck[] = [];
    const outcome = await evaluateWithAuthorizer(
      program,
      { authorizer: new Authorizer(decisions.decide) },
      {
        costLimit: 2_000_000,
        decisions,
        authorize: async (access) => {
          asked.push(access);
          return { isAllowed: access.verb === 'get', reason: '' };
        },
      },
    );
    expect(outcome).toMatchObject({ isOk: true, value: true, cost: 1_050_013 });
    expect(asked.map(({ verb, resource }) => [verb, resource])).toEqual([
      ['get', 'deployments'],
      ['delete', 'deployments'],
    ]);
  });
});
