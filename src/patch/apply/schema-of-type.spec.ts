import { catalog } from '../../../test/harness/managed-objects.js';
import type { Schema } from './schema.js';
import { schemaOfType } from './schema-of-type.js';

/** The schema at a path of a kind: `spec.containers[].ports`. */
function at(schema: Schema, path: string): Schema {
  return path.split('.').reduce((one, step) => {
    const field = one.map!.fields.get(step.replace('[]', ''))!.schema;
    return step.endsWith('[]') ? field.list!.of : field;
  }, schema);
}

function shown({ scalar, list, map }: Schema): string {
  if (list) return `${list.kind}(${list.keys.map((key) => `${key.name}=${JSON.stringify(key.default)}`).join()})`;
  if (map) return `${map.isAtomic ? 'atomic' : 'granular'} ${map.values ? 'map' : 'struct'}`;
  return scalar!;
}

describe('schema of a built-in type', () => {
  it.each([
    ['core.v1.Pod', 'spec', 'granular struct'],
    ['core.v1.Pod', 'spec.containers', 'map(name="")'],
    ['core.v1.Pod', 'spec.containers[].ports', 'map(containerPort=0,protocol="TCP")'],
    ['core.v1.Pod', 'spec.containers[].args', 'atomic()'],
    ['core.v1.Pod', 'spec.tolerations', 'atomic()'],
    ['core.v1.Pod', 'spec.nodeSelector', 'atomic map'],
    ['core.v1.Pod', 'spec.containers[].resources.limits', 'granular map'],
    ['core.v1.Pod', 'metadata.finalizers', 'set()'],
    ['core.v1.Pod', 'metadata.ownerReferences', 'map(uid="")'],
    ['core.v1.Pod', 'metadata.creationTimestamp', 'untyped'],
    ['core.v1.Pod', 'spec.hostNetwork', 'boolean'],
    ['core.v1.Pod', 'spec.priority', 'numeric'],
    ['core.v1.Secret', 'data', 'granular map'],
    ['core.v1.Service', 'spec.selector', 'atomic map'],
    ['core.v1.Service', 'spec.ports', 'map(port=0,protocol="TCP")'],
    ['core.v1.Service', 'spec.ports[].targetPort', 'untyped'],
    ['core.v1.PersistentVolume', 'spec.claimRef', 'granular struct'],
    ['core.v1.Event', 'involvedObject', 'atomic struct'],
    ['apps.v1.Deployment', 'spec.selector', 'atomic struct'],
    ['rbac.v1.Role', 'rules', 'atomic()'],
  ])('%s %s: %s', (struct, path, want) => {
    expect(shown(at(schemaOfType(catalog.struct(struct)), path))).toBe(want);
  });

  it.each<[string, string, string, unknown]>([
    ['apps.v1.Deployment', 'spec', 'strategy', {}],
    ['apps.v1.Deployment', 'spec', 'selector', null],
    ['core.v1.Pod', 'spec', 'containers', null],
    ['core.v1.Pod', 'spec', 'nodeName', undefined],
    ['core.v1.Event', '', 'firstTimestamp', null],
    ['core.v1.Service', 'spec.ports[]', 'targetPort', 0],
    ['core.v1.Service', 'spec.ports[]', 'port', 0],
  ])('Go always writes %s.%s.%s', (struct, path, field, want) => {
    const schema = schemaOfType(catalog.struct(struct));
    expect((path === '' ? schema : at(schema, path)).map!.fields.get(field)!.zero).toEqual(want);
  });

  it('recursive types have a schema', () => {
    const definition = schemaOfType(catalog.struct('apiextensions.v1.JSONSchemaProps'));
    expect(at(definition, 'properties').map!.values).toBe(definition);
  });
});
