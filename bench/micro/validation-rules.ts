import { ObjectRules } from '../../src/structural-schema/rules/object-rules.js';
import { compileRuleTree } from '../../src/structural-schema/rules/rule-tree.js';
import { atOnce } from '../../src/std/steps.js';

/**
 * CPU time of compiling 20 rules and of evaluating them for an object of 2 KiB, and the memory of the compiled rules:
 * `node --expose-gc dist/bench/micro/validation-rules.js`.
 */
const text = (rule: string) => ({ type: 'string', maxLength: 100, 'x-kubernetes-validations': [{ rule }] });
const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      'x-kubernetes-validations': [
        { rule: 'self.minReplicas <= self.replicas' },
        { rule: 'self.replicas <= self.maxReplicas' },
        { rule: "!has(self.mode) || self.mode in ['a', 'b', 'c']" },
        { rule: 'has(self.ports) && self.ports.size() > 0' },
        { rule: 'self.labels.all(k, k.size() < 20)' },
        { rule: "self.ports.exists(p, p.name == 'http')" },
      ],
      properties: {
        replicas: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self >= 0' }, { rule: 'self < 1000' }] },
        minReplicas: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self >= 0' }] },
        maxReplicas: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 0' }] },
        mode: text("self != ''"),
        image: text("self.contains('/')"),
        host: text("self.matches('^[a-z.]+$')"),
        path: text("self.startsWith('/')"),
        owner: text('self == oldSelf'),
        note: { type: 'string', maxLength: 4096 },
        labels: {
          type: 'object',
          maxProperties: 20,
          additionalProperties: { type: 'string', maxLength: 60 },
          'x-kubernetes-validations': [{ rule: 'self.size() < 20' }, { rule: "!('secret' in self)" }],
        },
        ports: {
          type: 'array',
          maxItems: 10,
          'x-kubernetes-validations': [{ rule: 'self.map(p, p.port).sum() < 100000' }],
          items: {
            type: 'object',
            properties: { name: { type: 'string', maxLength: 20 }, port: { type: 'integer' } },
            'x-kubernetes-validations': [{ rule: 'self.port > 0' }, { rule: 'self.port < 65536' }],
          },
        },
      },
    },
  },
};
const spec = {
  ...{ replicas: 3, minReplicas: 1, maxReplicas: 10, mode: 'a', image: 'example.com/image', host: 'example.com' },
  ...{ path: '/x', owner: 'me', note: 'n'.repeat(1500), labels: { app: 'x', tier: 'y', zone: 'z' } },
  ports: [
    { name: 'http', port: 80 },
    { name: 'https', port: 443 },
    { name: 'metrics', port: 9090 },
  ],
};
const object = { apiVersion: 'example.com/v1', kind: 'Bench', metadata: { name: 'one' }, spec };

function micros(task: () => void, rounds: number): number {
  for (let round = 0; round < rounds; round++) task();
  const before = process.cpuUsage();
  for (let round = 0; round < rounds; round++) task();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / rounds;
}

const rules = new ObjectRules(schema);
const evaluate = () => {
  const errors = atOnce(rules.validate(object, object, [], undefined));
  if (errors.length > 0) throw new Error(errors.map(({ field, detail }) => `${field}: ${detail}`).join());
};
const kept: unknown[] = [];
const heapOf = () => {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
};

const compileMicros = micros(() => void atOnce(compileRuleTree(schema, true)), 100);
const heapBefore = heapOf();
for (let round = 0; round < 50; round++) kept.push(atOnce(compileRuleTree(schema, true)));
const bytes = (heapOf() - heapBefore) / kept.length;
console.log(`20 rules, object of ${JSON.stringify(object).length} bytes`);
console.log(`evaluate  ${micros(evaluate, 5_000).toFixed(1)} µs an object`);
console.log(`compile   ${(compileMicros / 20).toFixed(1)} µs a rule`);
console.log(`memory    ${(bytes / 20 / 1024).toFixed(1)} KiB a rule${globalThis.gc ? '' : ' (run with --expose-gc)'}`);
