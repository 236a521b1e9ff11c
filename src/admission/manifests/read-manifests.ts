import type { MutatingAdmissionPolicyBinding } from '../../catalog/types/admissionregistration.v1.js';
import { reasonOf } from '../../certificates/certificate-error.js';
import { goQuote } from '../../machinery/go-quote.js';
import { apiVersionOf } from '../../machinery/gvk.js';
import { isJsonObject, type JsonValue, type KubeObject } from '../../machinery/kube-object.js';
import type { ResourceRegistry } from '../../registry/resource-registry.js';
import { unstoredObject } from '../../registry/write/unstored-object.js';
import type { Steps } from '../../std/steps.js';
import { decodeManifest } from './manifest-files.js';
import type { ManifestKind } from './manifest-kinds.js';

/** The objects of a directory by the plural name of their kind, then by name. */
export type Manifests = ReadonlyMap<string, ReadonlyMap<string, KubeObject>>;

interface ReadOptions {
  readonly registry: ResourceRegistry;
  /** Group of all kinds of manifests: `admissionregistration.k8s.io`. */
  readonly group: string;
  readonly kinds: readonly ManifestKind[];
  readonly nameSuffix: string;
  readonly valuesMax: number;
}

const version = 'v1';

/** Reads all files of a directory; throws the first problem. */
export function* readManifests(
  files: readonly { readonly path: string; readonly bytes: Buffer }[],
  options: ReadOptions,
): Steps<Manifests> {
  const found = new Map(options.kinds.map(({ plural }) => [plural, new Map<string, KubeObject>()]));
  const pathOf = new Map<KubeObject, string>();
  for (const { path, bytes } of files) {
    try {
      for (const document of yield* decodeManifest(bytes, options.valuesMax)) {
        for (const [kind, value] of itemsOf(document, options)) {
          const object = yield* readObject(value, kind, options);
          const { name = '' } = object.metadata;
          const others = found.get(kind.plural)!;
          const twin = others.get(name);
          if (twin) throw new Error(`${kind.kind} ${goQuote(name)} is also in ${pathOf.get(twin)}`);
          others.set(name, object);
          pathOf.set(object, path);
          yield;
        }
      }
    } catch (error) {
      throw new Error(`${path}: ${reasonOf(error)}`, { cause: error });
    }
  }
  for (const [object, path] of pathOf) requirePolicy(object, path, found, options);
  return found;
}

/** Returns the objects of a document, which may be a List, or a list of one of the kinds. */
function itemsOf(document: JsonValue, { group, kinds }: ReadOptions): [ManifestKind, JsonValue][] {
  const items: [ManifestKind, JsonValue][] = [];
  const pending = [document];
  const own = apiVersionOf(group, version);
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    const { kind, apiVersion, items: listed = [] } = isJsonObject(value) ? value : {};
    const listOf = kinds.find((one) => apiVersion === own && kind === `${one.kind}List`);
    const isList = listOf !== undefined || (apiVersion === 'v1' && kind === 'List');
    const found = kinds.find((one) => apiVersion === own && kind === one.kind);
    if (found) items.push([found, value]);
    else if (isList && Array.isArray(listed)) {
      if (listOf) for (const item of listed) items.push([listOf, item]);
      else for (const item of [...listed].reverse()) pending.push(item);
    } else {
      const kindText = `${typeof apiVersion === 'string' ? apiVersion : ''}, kind ${typeof kind === 'string' ? kind : ''}`;
      const allowed = kinds.map((one) => one.kind).join(' and ');
      throw new Error(
        `apiVersion ${kindText.slice(0, 200)} is not supported; this directory may have ${allowed} of ${own}`,
      );
    }
  }
  return items;
}

function* readObject(value: JsonValue, kind: ManifestKind, options: ReadOptions): Steps<KubeObject> {
  const served = options.registry.find(options.group, version, kind.plural);
  if (served?.type !== 'stored') throw new Error(`${kind.plural} in version ${version} are not served`);
  const object = yield* unstoredObject(served, value);
  const { name = '' } = object.metadata;
  const problem = name.endsWith(options.nameSuffix)
    ? kind.problemOf(object, options.nameSuffix)
    : `the name must end with "${options.nameSuffix}"`;
  if (problem !== undefined) throw new Error(`${kind.kind} ${goQuote(name)}: ${problem}`);
  return object;
}

function requirePolicy(object: KubeObject, path: string, found: Manifests, { kinds }: ReadOptions): void {
  const [policies, bindings] = kinds;
  if (!bindings || object.kind !== bindings.kind) return;
  const { policyName = '' } = (object as MutatingAdmissionPolicyBinding).spec ?? {};
  if (found.get(policies!.plural)!.has(policyName)) return;
  const { name = '' } = object.metadata;
  throw new Error(`${path}: ${object.kind} ${goQuote(name)}: no manifest has the policy ${goQuote(policyName)}`);
}
