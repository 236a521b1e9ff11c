import { Catalog } from '../../src/catalog/catalog.js';
import { decodeJson, stringifyJson } from '../../src/codec/json.js';
import { namingProfile } from '../../src/config/naming-profile.js';
import type { JsonObject, JsonValue, KubeObject } from '../../src/machinery/kube-object.js';
import { validateObjectMeta } from '../../src/machinery/object-meta-validation.js';
import type { StructType } from '../../src/machinery/type-model.js';
import { definitionStrategy } from '../../src/modules/apiextensions/definition.strategy.js';
import { podRules } from '../../src/modules/core/pod/pod.strategy.js';
import type { Strategy } from '../../src/registry/definition/strategy.js';
import { conform } from '../../src/typed/conform.js';
import { declarativeErrors } from '../../src/typed/declarative.js';
import { applyDefaults } from '../../src/typed/defaults.js';

/**
 * CPU time of validating a Pod of 2 KiB and a CustomResourceDefinition of 1 MiB, by the validation of the kind and the
 * declared rules: `node dist/bench/micro/validation.js`.
 */
const naming = namingProfile('kubernetes');
const catalog = new Catalog(naming);
const context = { user: { name: 'bench', uid: '', groups: [], extra: {} }, now: '2026-01-02T03:04:05Z' };

const container = (name: string): JsonObject => ({
  name,
  image: `registry.example.com/team/${name}:1.2.3`,
  args: ['--port=8080', '--verbose'],
  ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
  env: [
    { name: 'LOG_LEVEL', value: 'info' },
    { name: 'POD_IP', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'status.podIP' } } },
  ],
  resources: { limits: { cpu: '500m', memory: '128Mi' }, requests: { cpu: '100m', memory: '64Mi' } },
  volumeMounts: [{ name: 'config', mountPath: '/etc/config', readOnly: true }],
  livenessProbe: { httpGet: { path: '/healthz', port: 8080 }, initialDelaySeconds: 5, periodSeconds: 10 },
  readinessProbe: { httpGet: { path: '/ready', port: 'http' }, periodSeconds: 5 },
  securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] }, runAsNonRoot: true },
});
const pod: JsonObject = {
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: {
    name: 'web-7d4b9c6f5-x2x8k',
    namespace: 'default',
    labels: { app: 'web', tier: 'frontend', 'pod-template-hash': '7d4b9c6f5' },
    annotations: { 'example.com/checksum': '5d41402abc4b2a76b9719d911017c592' },
  },
  spec: {
    containers: [container('web'), container('sidecar')],
    volumes: [{ name: 'config', configMap: { name: 'web', defaultMode: 420 } }],
    nodeSelector: { 'example.com/os': 'linux' },
    tolerations: [{ key: 'dedicated', operator: 'Equal', value: 'web', effect: 'NoSchedule' }],
    terminationGracePeriodSeconds: 30,
  },
};

/** Nested objects with the keywords that schemas use most. */
function schema(depth: number, breadth: number): JsonObject {
  const leaf: JsonValue[] = [
    { type: 'string', description: 'One of several words that say how it is done.', enum: ['Never', 'Once', 'Always'] },
    { type: 'integer', format: 'int32', minimum: 0, maximum: 100, default: 10 },
    { type: 'array', items: { type: 'string', maxLength: 63, pattern: '^[a-z0-9-]+$' }, maxItems: 20 },
    { type: 'object', additionalProperties: { type: 'string', maxLength: 253 } },
  ];
  const properties = Object.fromEntries(
    Array.from({ length: breadth }, (_, index): [string, JsonValue] => [
      `field${index}`,
      depth === 0 ? leaf[index % leaf.length]! : schema(depth - 1, breadth),
    ]),
  );
  return { type: 'object', description: 'A part of it.', properties };
}

function definition(bytesMin: number): JsonObject {
  const made = (versions: number): JsonObject => ({
    kind: 'CustomResourceDefinition',
    apiVersion: 'apiextensions.k8s.io/v1',
    metadata: { name: 'lamps.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'lamps', singular: 'lamp', kind: 'Lamp', listKind: 'LampList' },
      versions: Array.from({ length: versions }, (_, index) => ({
        name: `v${index + 1}`,
        served: true,
        storage: index === 0,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: schema(3, 7) } } },
      })),
    },
  });
  for (let versions = 1; ; versions++) {
    const whole = made(versions);
    if (Buffer.byteLength(stringifyJson(whole)) >= bytesMin) return whole;
  }
}

/** The object as a create validates it. */
function submitted(given: JsonObject, type: StructType, strategy: Strategy): KubeObject {
  const { object } = conform(decodeJson(stringifyJson(given)), type);
  applyDefaults(object, type);
  strategy.default?.(object as unknown as KubeObject);
  strategy.prepareForCreate?.(object as unknown as KubeObject, context);
  return object as unknown as KubeObject;
}

function validate(object: KubeObject, type: StructType, strategy: Strategy, namespaced: boolean): number {
  const errors = [
    ...validateObjectMeta(object.metadata, namespaced, strategy),
    ...(strategy.validateCreate?.(object, context) ?? []),
    ...declarativeErrors(object as unknown as JsonObject, type, {
      old: undefined,
      stability: 'alpha',
      isEnabled: () => true,
      ownResourcePrefix: 'kubernetes.io/',
    }),
  ];
  for (const { field, detail } of errors.slice(0, 3)) console.log(`  refused: ${field}: ${detail}`);
  return errors.length;
}

function measure(name: string, rounds: number, task: () => void): void {
  const costs: number[] = [];
  task();
  for (let run = 0; run < 5; run++) {
    const start = process.cpuUsage();
    for (let round = 0; round < rounds; round++) task();
    const { user, system } = process.cpuUsage(start);
    costs.push((user + system) / rounds);
  }
  console.log(`${name}: ${costs.map((cost) => cost.toFixed(1)).join('  ')} µs`);
}

const podType = catalog.struct('core.v1.Pod');
const definitionType = catalog.struct('apiextensions.v1.CustomResourceDefinition');
const definitions = definitionStrategy(naming);
const { strategy: podStrategy } = podRules(naming);
const pods = Array.from({ length: 50 }, () => submitted(pod, podType, podStrategy));
const large = definition(1024 * 1024);
const largeText = stringifyJson(large);
const whole = submitted(large, definitionType, definitions);
console.log(`a Pod of ${Buffer.byteLength(stringifyJson(pod))} bytes, a definition of ${Buffer.byteLength(largeText)}`);
let turn = 0;
measure('validate a Pod', 5_000, () => validate(pods[turn++ % pods.length]!, podType, podStrategy, true));
measure('validate a definition', 5, () => validate(whole, definitionType, definitions, false));
measure('decode, conform and default a definition', 5, () => submitted(large, definitionType, definitions));
