import type { AdmissionOperation } from '../../src/admission/admission-operation.js';
import type {
  AdmissionAttributes,
  AdmissionHooks,
  AdmissionPluginDefinition,
} from '../../src/admission/admission-plugin.js';
import { plainConfiguration } from '../../src/admission/configuration/admission-configuration.js';
import type { ObjectReader, ObjectScan } from '../../src/admission/object-reader.js';
import type { Permission, PluginDependencies } from '../../src/admission/plugin-dependencies.js';
import type { WebhookDependencies } from '../../src/admission/webhooks/webhook-dependencies.js';
import { silentLogger } from '../../src/std/logger.js';
import type { PolicyObjects } from '../../src/admission/policies/policy-objects.js';
import type { QuotaLedger } from '../../src/admission/quota/quota-ledger.js';
import { resolveGates } from '../../src/config/feature-gates.js';
import { namingProfile } from '../../src/config/naming-profile.js';
import { ApiError } from '../../src/machinery/api-error.js';
import type { GroupResource } from '../../src/machinery/gvk.js';
import type { KubeObject, ObjectMeta } from '../../src/machinery/kube-object.js';
import type { UserInfo } from '../../src/machinery/user-info.js';
import type { Served } from '../../src/registry/resource-registry.js';
import { ManualClock } from '../../src/std/clock.js';
import { SeededRng } from '../../src/std/rng.js';

interface Given {
  readonly metadata?: ObjectMeta;
  readonly [field: string]: unknown;
}

/** `{ '/pods': [...], 'apps/deployments': [...] }` */
export type Known = Readonly<Record<string, readonly Given[]>>;

const pathOf = ({ group, resource }: GroupResource) => `${group}/${resource}`;
const asObject = (given: Given): KubeObject => ({ kind: '', apiVersion: '', ...given, metadata: given.metadata ?? {} });

/** Objects that plug-ins can read. ResourceQuotas among them can be charged. */
export class KnownObjects implements ObjectReader, QuotaLedger {
  private readonly byPath = new Map<string, KubeObject[]>();
  /** Number of next charges that fail with a conflict. */
  conflicts = 0;
  /** Number of objects that were read of scans. */
  scanned = 0;
  /** Cached quotas, if they differ from the stored ones. */
  staleQuotas: readonly KubeObject[] | undefined;

  constructor(known: Known = {}) {
    for (const [path, objects] of Object.entries(known)) this.byPath.set(path, objects.map(asObject));
  }

  cached(of: GroupResource, namespace: string, name: string): KubeObject | undefined {
    return this.list(of, namespace).find((one) => one.metadata.name === name);
  }
  live(of: GroupResource, namespace: string, name: string): Promise<KubeObject | undefined> {
    return Promise.resolve(this.cached(of, namespace, name));
  }
  list(of: GroupResource, namespace: string): readonly KubeObject[] {
    const all = this.byPath.get(pathOf(of)) ?? [];
    return all.filter((one) => namespace === '' || (one.metadata.namespace ?? namespace) === namespace);
  }
  scan(of: GroupResource, namespace: string): ObjectScan {
    const objects = this.list(of, namespace);
    return { count: objects.length, objects: this.countReads(objects) };
  }
  private *countReads(objects: readonly KubeObject[]): Generator<KubeObject, void> {
    for (const object of objects) {
      this.scanned++;
      yield object;
    }
  }
  add(path: string, given: Given): void {
    this.byPath.set(path, [...(this.byPath.get(path) ?? []), asObject(given)]);
  }

  quotas(namespace: string): readonly KubeObject[] {
    return this.staleQuotas ?? this.list(quotaResource, namespace);
  }
  latestKnown(quota: KubeObject): KubeObject {
    return quota;
  }
  latest({ metadata }: KubeObject): Promise<KubeObject | undefined> {
    return this.live(quotaResource, '', metadata.name ?? '');
  }
  charge(quota: KubeObject, used: Record<string, string>): Promise<boolean> {
    if (this.conflicts > 0) {
      this.conflicts--;
      return Promise.resolve(false);
    }
    const path = pathOf(quotaResource);
    const stored = this.cached(quotaResource, '', quota.metadata.name ?? '');
    if (stored !== quota) return Promise.resolve(false);
    const charged = stored && { ...stored, status: { ...(stored['status'] as object), used } };
    // Readers may have kept the object: it is replaced, as in a store.
    if (charged)
      this.byPath.set(
        path,
        this.byPath.get(path)!.map((one) => (one === stored ? charged : one)),
      );
    return Promise.resolve(stored !== undefined);
  }
}

const quotaResource = { group: '', resource: 'resourcequotas' };

export const kubernetes = namingProfile('kubernetes');

/** A server without policies. */
const noPolicies: PolicyObjects = {
  follow: () => undefined,
  equivalentsOf: () => [],
  paramsOf: () => undefined,
};

/** Webhooks that no test of a plug-in calls. */
const noWebhooks: WebhookDependencies = {
  clientOf: () => {
    throw new Error('a test of a plug-in calls no webhook');
  },
  observer: {
    called: () => undefined,
    rejected: () => undefined,
    failedOpen: () => undefined,
    conditionsEvaluated: () => undefined,
  },
  logger: silentLogger,
  valuesMax: 50_000,
  patchOperationsMax: 10_000,
};

interface DependencyOptions extends Partial<PluginDependencies> {
  readonly known?: Known | KnownObjects;
  /** Permissions that every user has, as `verb name`. */
  readonly permissions?: readonly string[];
}

export function pluginDependencies({
  known = {},
  permissions = [],
  ...given
}: DependencyOptions = {}): PluginDependencies {
  const objects = known instanceof KnownObjects ? known : new KnownObjects(known);
  const has = ({ verb, name }: Permission) => permissions.includes(`${verb} ${name}`);
  return {
    objects,
    ledger: objects,
    policyObjects: noPolicies,
    policyObserver: { validated: () => undefined, mutated: () => undefined, conditionsEvaluated: () => undefined },
    manifests: { objectsOf: () => undefined },
    webhooks: noWebhooks,
    naming: kubernetes,
    clock: new ManualClock(),
    rng: new SeededRng(1),
    resourcesOfKind: () => [],
    mayDo: (permission) => Promise.resolve(has(permission)),
    refusalOf: (permission) =>
      Promise.resolve(has(permission) ? undefined : ApiError.forbidden(permission, permission.name, 'no permission')),
    decideAccess: (_user, { verb, name }) =>
      Promise.resolve({ isAllowed: permissions.includes(`${verb} ${name}`), reason: '' }),
    heldRules: { heldBy: () => ({ rules: [] }), rulesOf: () => undefined },
    featureGates: resolveGates({}),
    allowPrivileged: true,
    notReadyTolerationSeconds: 300,
    unreachableTolerationSeconds: 300,
    configuration: plainConfiguration,
    ...given,
  };
}

/** Creates the hooks of a plug-in. Fails if the dependencies leave it nothing to do. */
export function hooksOf(definition: AdmissionPluginDefinition, given: DependencyOptions = {}): AdmissionHooks {
  const hooks = definition.make(pluginDependencies(given));
  if (!hooks) throw new Error(`${definition.name} has nothing to do`);
  return hooks;
}

export interface WriteGiven {
  readonly operation?: AdmissionOperation;
  /** `apps/deployments`, `/pods`, `/pods/status` */
  readonly of?: string;
  readonly object?: Given;
  readonly old?: Given;
  readonly user?: Partial<UserInfo>;
  readonly dryRun?: boolean;
  readonly clusterWide?: boolean;
  readonly kind?: string;
  readonly name?: string;
  readonly verb?: string;
  readonly served?: Served;
}

export function attributesOf(given: WriteGiven): AdmissionAttributes {
  const {
    of = '/pods',
    object,
    old,
    operation = old ? 'UPDATE' : 'CREATE',
    user,
    clusterWide = false,
    kind = '',
  } = given;
  const [group = '', resource = '', subresource = ''] = of.split('/');
  return {
    operation,
    resource: { group, resource },
    kind,
    served: given.served,
    subresource,
    namespaced: !clusterWide,
    namespace: clusterWide ? '' : 'ns',
    name: given.name ?? object?.metadata?.name ?? old?.metadata?.name ?? 'p',
    object: object && asObject(structuredClone(object)),
    old: old && asObject(structuredClone(old)),
    canonical: undefined,
    request: {
      user: { name: 'ann', uid: '', groups: [], extra: {}, ...user },
      signal: undefined,
      warnings: [],
      dryRun: given.dryRun ?? false,
      ...(given.verb !== undefined && { verb: given.verb }),
      fieldManager: 'test',
      auditAnnotations: new Map(),
    },
  };
}

interface Outcome {
  readonly object: KubeObject | undefined;
  readonly refused: string | undefined;
  readonly warnings: readonly string[];
  readonly audit: Readonly<Record<string, string>>;
}

/** Runs both steps of one plug-in. A refusal is returned without its prefix `pods "p" is forbidden: `. */
export async function admitted(plugin: AdmissionHooks, given: WriteGiven): Promise<Outcome> {
  const attributes = attributesOf(given);
  const { warnings, auditAnnotations } = attributes.request;
  const outcome = (refused?: string): Outcome => ({
    object: attributes.object,
    refused,
    warnings,
    audit: Object.fromEntries(auditAnnotations),
  });
  try {
    await plugin.admit?.(attributes);
    await plugin.validate?.(attributes);
    return outcome();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return outcome(error.message.replace(/^\S+ "[^"]*" is forbidden: /, ''));
  }
}

/** A Pod with one container `c`. */
export const podOf = (spec: object = {}, metadata: ObjectMeta = {}) => ({
  metadata: { name: 'p', ...metadata },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
});
