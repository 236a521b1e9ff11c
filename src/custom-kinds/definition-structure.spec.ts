import type { KubeObject } from '../machinery/kube-object.js';
import { structureFinding } from './definition-structure.js';

const definition = (spec: object): KubeObject => ({
  kind: 'CustomResourceDefinition',
  apiVersion: 'apiextensions.k8s.io/v1',
  metadata: { name: 'mins.g.example.com' },
  spec,
});
const version = (openAPIV3Schema: object | undefined, name = 'v1') => ({
  name,
  ...(openAPIV3Schema && { schema: { openAPIV3Schema } }),
});
const at = 'spec.versions[0].schema.openAPIV3Schema';
const violations = (message: string) => ({ status: 'True', reason: 'Violations', message });

it.each<[string, object, object | undefined]>([
  ['a structural schema', { versions: [version({ type: 'object' })] }, undefined],
  ['no schema', { versions: [version(undefined)] }, undefined],
  [
    'preserveUnknownFields: true',
    { preserveUnknownFields: true, versions: [] },
    violations('spec.preserveUnknownFields: Invalid value: true: must be false'),
  ],
  [
    'a schema without a type',
    { versions: [version({ properties: {} })] },
    violations(`${at}.type: Required value: must not be empty at the root`),
  ],
  [
    'several violations',
    { preserveUnknownFields: true, versions: [version({ type: 'object', properties: { a: {} } })] },
    violations(
      `[spec.preserveUnknownFields: Invalid value: true: must be false, ${at}.properties[a].type: Required value: must not be empty for specified object fields]`,
    ),
  ],
  [
    'a schema that uses $ref',
    { versions: [version({ type: 'object', properties: { a: { $ref: '#/b' } } }, 'v2')] },
    {
      status: 'Unknown',
      reason: 'StructuralError',
      message: "failed to check validation schema for version v2: OpenAPIV3Schema '$ref' is not supported",
    },
  ],
])('NonStructuralSchema condition of a definition with %s', (_what, spec, want) =>
  expect(structureFinding(definition(spec))).toEqual(want && { type: 'NonStructuralSchema', ...want }),
);
