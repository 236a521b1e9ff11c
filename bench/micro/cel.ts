import type { Schema } from '../../src/cel/declared/schema-type.js';
import { schemaType } from '../../src/cel/declared/schema-type.js';
import type { Environment } from '../../src/cel/environment.js';
import { kubernetesEnvironment } from '../../src/cel/kubernetes.js';
import { re2Engine } from '../../src/cel/re2-engine.js';

/** Processor time of an evaluation and of a compilation: `node dist/bench/micro/cel.js`. */
const schema: Schema = {
  type: 'object',
  properties: {
    replicas: { type: 'integer' },
    maxReplicas: { type: 'integer' },
    s: { type: 'string', maxLength: 50 },
    list: { type: 'array', maxItems: 10, items: { type: 'string', maxLength: 5 } },
    ints: { type: 'array', maxItems: 20, items: { type: 'integer' } },
    m: { type: 'object', maxProperties: 5, additionalProperties: { type: 'string', maxLength: 9 } },
    obj: { type: 'object', properties: { b: { type: 'object', properties: { c: { type: 'string' } } } } },
    objs: {
      type: 'array',
      maxItems: 4,
      items: { type: 'object', properties: { k: { type: 'string', maxLength: 4 }, v: { type: 'integer' } } },
    },
  },
};
const self = {
  replicas: 3,
  maxReplicas: 10,
  s: 'hello',
  list: ['a', 'bb', 'ccc'],
  ints: [3, 1, 2],
  m: { k1: 'v1', k2: 'v2' },
  obj: { b: { c: 'see' } },
  objs: [
    { k: 'k1', v: 1 },
    { k: 'k2', v: 2 },
  ],
};

const expressions = [
  'self.replicas <= self.maxReplicas && self.list.all(x, x.size() < 10)',
  'self.replicas <= self.maxReplicas',
  "self.s == 'hello'",
  'has(self.obj.b.c) && self.obj.b.c.size() > 2',
  'self.objs.all(o, o.v > 0)',
  "self.list.exists(x, x == 'ccc')",
  'self.ints.map(x, x * 2).sum() == 12',
  "self.m.all(k, self.m[k].startsWith('v'))",
  "self.s.matches('^h.*o$')",
  "self.replicas in [1, 2, 3] && self.s in ['a', 'hello']",
];

const environment = kubernetesEnvironment({
  regex: re2Engine(),
  compatibilityVersion: { major: 1, minor: 36 },
  mode: 'new',
  variables: { self: schemaType(schema, 'Widget')! },
});

/** Microseconds of processor time of one run. */
function micros(task: () => void, rounds: number): number {
  for (let round = 0; round < rounds / 10; round++) task();
  const start = process.cpuUsage();
  for (let round = 0; round < rounds; round++) task();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / rounds;
}

function measure(expression: string, within: Environment): void {
  const compiled = within.compile(expression);
  if (!compiled.isOk || compiled.program instanceof Error) throw new Error(`${expression} does not compile`);
  const { program } = compiled;
  const outcome = program.evaluate({ self }, { costLimit: 1_000_000 });
  if (!outcome.isOk || outcome.value !== true) throw new Error(`${expression} is not true`);
  const evaluation = micros(() => program.evaluate({ self }, { costLimit: 1_000_000 }), 300_000);
  const compilation = micros(() => within.compile(expression), 3000);
  const perSecond = Math.round(1e6 / evaluation).toLocaleString('en-US');
  console.log(
    `${expression.padEnd(70)} ${(evaluation * 1000).toFixed(0).padStart(6)} ns ${perSecond.padStart(12)}/s, ` +
      `compiled in ${compilation.toFixed(0)} \u00b5s`,
  );
}

for (const expression of expressions) measure(expression, environment);
