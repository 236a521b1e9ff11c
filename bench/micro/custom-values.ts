import { Catalog } from '../../src/catalog/catalog.js';
import { decodeJson, stringifyJson } from '../../src/codec/json.js';
import { namingProfile } from '../../src/config/naming-profile.js';
import type { JsonObject } from '../../src/machinery/kube-object.js';
import { compileSchema } from '../../src/structural-schema/value-schema.js';

/** CPU time of decoding and validating a custom resource: `node dist/bench/micro/custom-values.js`. */
const text = { type: 'string' };
const name = { ...text, maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' };
const quantity = { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] };
const object = (properties: object, rest: object = {}) => ({ type: 'object', properties, ...rest });
const map = (of: object) => ({ type: 'object', additionalProperties: of });
const schema = object({
  apiVersion: text,
  kind: text,
  metadata: { type: 'object' },
  spec: object(
    {
      replicas: { type: 'integer', format: 'int32', minimum: 0, default: 1 },
      image: { ...text, minLength: 1 },
      strategy: { ...text, enum: ['Rolling', 'Recreate'], default: 'Rolling' },
      labels: map(text),
      listeners: {
        type: 'array',
        maxItems: 64,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
        items: object(
          {
            name,
            port: { type: 'integer', format: 'int32', minimum: 1, maximum: 65535 },
            protocol: { ...text, enum: ['HTTP', 'HTTPS', 'TCP'], default: 'HTTP' },
            hostname: { ...text, maxLength: 253 },
            tls: object({ mode: { ...text, default: 'Terminate' }, secretName: name }),
          },
          { required: ['name', 'port'] },
        ),
      },
      resources: object({ limits: map(quantity), requests: map(quantity) }),
      env: { type: 'array', items: object({ name: text, value: text }, { required: ['name'] }) },
    },
    { required: ['image'] },
  ),
  status: object({
    ready: { type: 'integer' },
    conditions: { type: 'array', items: object({ type: text, status: text }) },
  }),
});

const listener = (index: number): JsonObject => ({
  name: `listener-${index}`,
  port: 8000 + index,
  hostname: `tenant-${index}.apps.example.com`,
  tls: { secretName: `certificate-${index}` },
});
const sample = stringifyJson({
  apiVersion: 'example.com/v1',
  kind: 'Gateway',
  metadata: { name: 'public', namespace: 'default', labels: { app: 'public' } },
  spec: {
    replicas: 3,
    image: 'registry.example.com/team/gateway:1.2.3',
    labels: { app: 'public', tier: 'edge', team: 'network' },
    listeners: Array.from({ length: 10 }, (_, index) => listener(index)),
    resources: { limits: { cpu: 2, memory: '512Mi' }, requests: { cpu: '500m', memory: '128Mi' } },
    env: Array.from({ length: 8 }, (_, index) => ({ name: `SETTING_${index}`, value: `value-of-setting-${index}` })),
  },
  status: { ready: 3, conditions: [{ type: 'Ready', status: 'True' }] },
});

const objectMeta = new Catalog(namingProfile('kubernetes')).struct('meta.v1.ObjectMeta');
const rounds = 20_000;

function micros(task: (value: JsonObject) => void): number {
  const values = Array.from({ length: 200 }, () => decodeJson(sample) as JsonObject);
  const start = process.cpuUsage();
  for (let round = 0; round < rounds; round++) task(values[round % values.length]!);
  return process.cpuUsage(start).user / rounds;
}

const first = process.hrtime.bigint();
const values = compileSchema(schema, { objectMeta });
const compiled = process.hrtime.bigint();
values.validate(values.filled(values.pruned(decodeJson(sample))));
const done = process.hrtime.bigint();
const took = (from: bigint, to: bigint) => (Number(to - from) / 1000).toFixed(0);
console.log(
  `${Buffer.byteLength(sample)} bytes; compiled in ${took(first, compiled)} µs, the first in ${took(compiled, done)} µs`,
);
for (let run = 0; run < 4; run++) {
  let errors = 0;
  const pruning = micros((value) => values.pruned(value));
  const filling = micros((value) => values.filled(value));
  const validating = micros((value) => (errors += values.validate(value).length));
  const updating = micros((value) => (errors += values.validateUpdate(value, value).length));
  const all = micros((value) => (errors += values.validate(values.filled(values.pruned(value))).length));
  const decoding = micros(() => decodeJson(sample));
  console.log(
    `pruned ${pruning.toFixed(2)} µs   filled ${filling.toFixed(2)} µs   validate ${validating.toFixed(2)} µs   ` +
      `validateUpdate ${updating.toFixed(2)} µs   all three ${all.toFixed(2)} µs   decodeJson ${decoding.toFixed(2)} µs   (${errors})`,
  );
}
