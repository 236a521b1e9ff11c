import { validatingAdmissionPolicy } from '../../src/admission/plugins/validating-admission-policy.plugin.js';
import type { ParamResource, PolicyListener, PolicyObjects } from '../../src/admission/policies/policy-objects.js';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import type { LabelSelector } from '../../src/machinery/label-selector.js';
import type { ServedVirtual } from '../../src/registry/resource-registry.js';
import { admitted, hooksOf, type WriteGiven } from './admission.js';

interface Listed {
  readonly namespaced: boolean;
  readonly objects: readonly KubeObject[];
  /** Resolves when the objects are known. */
  readonly loaded?: Promise<void>;
}

type Params = Readonly<Record<string, Listed>>;

/** Policies and bindings, kept and followed like those of a server. */
export class StoredPolicies implements PolicyObjects {
  private readonly listeners = new Map<string, PolicyListener>();
  private readonly objects = new Map<string, Map<string, KubeObject>>();

  /** `params` by kind. */
  constructor(private readonly params: Params = {}) {}

  follow(_group: string, _version: string, plural: string, listener: PolicyListener): void {
    this.listeners.set(plural, listener);
    for (const [name, object] of this.objects.get(plural) ?? []) listener.changed(name, object);
  }
  equivalentsOf(): readonly [] {
    return [];
  }
  paramsOf({ kind }: { readonly kind: string }): ParamResource | undefined {
    const found = this.params[kind];
    return found && new ListedParams(found);
  }

  /** Announces, as a cache that is being loaded does, that the stored policies are not known yet. */
  announceLoad(ready: Promise<void>): void {
    this.listeners.get(policies)?.loading(ready);
  }

  put(plural: string, object: KubeObject): void {
    const name = object.metadata.name!;
    this.objects.set(plural, (this.objects.get(plural) ?? new Map<string, KubeObject>()).set(name, object));
    this.listeners.get(plural)?.changed(name, object);
  }
  delete(plural: string, name: string): void {
    this.objects.get(plural)?.delete(name);
    this.listeners.get(plural)?.deleted(name);
  }
}

class ListedParams implements ParamResource {
  private objects: readonly KubeObject[] = [];
  private readonly loading: Promise<void> | undefined;
  constructor(private readonly listed: Listed) {
    if (!listed.loaded) this.objects = listed.objects;
    this.loading = listed.loaded?.then(() => void (this.objects = listed.objects));
  }
  get namespaced(): boolean {
    return this.listed.namespaced;
  }
  load(): Promise<void> | undefined {
    return this.loading;
  }
  private in(namespace: string): readonly KubeObject[] {
    return this.objects.filter(({ metadata }) => (metadata.namespace ?? '') === namespace);
  }
  get(namespace: string, name: string): KubeObject | undefined {
    return this.in(namespace).find(({ metadata }) => metadata.name === name);
  }
  select(namespace: string, selector: LabelSelector): readonly KubeObject[] {
    return this.in(namespace).filter(({ metadata }) => selector.matches(metadata.labels));
  }
}

export const policies = 'validatingadmissionpolicies';
export const bindings = 'validatingadmissionpolicybindings';

const anyRule = { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] };

/** A policy for all requests, with other fields in its spec. */
export const policyOf = (name: string, spec: object = {}, generation = 1): KubeObject => ({
  kind: 'ValidatingAdmissionPolicy',
  apiVersion: 'admissionregistration.k8s.io/v1',
  metadata: { name, uid: name, generation },
  spec: {
    matchConstraints: { resourceRules: [anyRule] },
    validations: [{ expression: 'false', message: 'refused' }],
    ...spec,
  },
});

export const bindingOf = (name: string, policyName = name, spec: object = {}): KubeObject => ({
  kind: 'ValidatingAdmissionPolicyBinding',
  apiVersion: 'admissionregistration.k8s.io/v1',
  metadata: { name },
  spec: { policyName, validationActions: ['Deny'], ...spec },
});

/** A resource that a request may be about. */
export const servedAs = (group: string, version: string, plural: string, kind: string): ServedVirtual => ({
  type: 'virtual',
  definition: { group, version, plural, kind, singular: kind.toLowerCase(), namespaced: true },
  handle: () => Promise.reject(new Error('a resource of a test handles no request')),
});

const configMaps = servedAs('', 'v1', 'configmaps', 'ConfigMap');

/** Runs the plug-in for a write of a ConfigMap, or of another resource, in namespace `ns`. */
export async function enforced(stored: StoredPolicies, given: WriteGiven = {}) {
  const namespace = { metadata: { name: 'ns', labels: { team: 'a' } } };
  const hooks = hooksOf(validatingAdmissionPolicy, {
    policyObjects: stored,
    known: { '/namespaces': [namespace] },
    permissions: ['get allowed'],
  });
  const { of = '/configmaps', ...rest } = given;
  return admitted(hooks, { served: configMaps, object: { metadata: { name: 'p' } }, of, ...rest });
}

/** Runs the plug-in with one bound policy. */
export function enforcedOne(spec: object, given: WriteGiven = {}, binding: object = {}, params: Params = {}) {
  const stored = new StoredPolicies(params);
  stored.put(policies, policyOf('policy', spec));
  stored.put(bindings, bindingOf('binding', 'policy', binding));
  return enforced(stored, given);
}
