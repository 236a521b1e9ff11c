import type { ValidatingAdmissionPolicy } from '../../catalog/types/admissionregistration.v1.js';
import type { CelType } from '../../cel/types.js';
import type { Schema } from '../../cel/declared/schema-type.js';
import { ObjectTypes } from '../../expressions/object-types.js';
import { parseApiVersion } from '../../machinery/gvk.js';
import { admissionregistrationVersion } from '../../modules/admissionregistration/admissionregistration.resources.js';
import type { ServedResource } from '../../registry/resource-registry.js';
import { YieldTimer } from '../../std/yield-timer.js';
import { findStored } from '../find-stored.js';
import { followNames } from '../follow.js';
import { defineReconciler, idle, type ReconcilerDependencies, type RunningReconciler } from '../reconciler.js';
import { matchedResources } from './matched-kinds.js';
import { typeWarnings } from './type-check.js';

/** Checks the types of expressions of ValidatingAdmissionPolicies, and writes the warnings to their status. */
export const policyStatus = defineReconciler({
  name: 'validatingadmissionpolicy-status-controller',
  runs: 'by default',
  runsOn: 'leader',
  role: 'validatingadmissionpolicy-status-controller',
  yieldsToUpstream: true,
  fieldManager: () => 'validatingadmissionpolicy-status',
  start(dependencies) {
    const { group, version } = admissionregistrationVersion(dependencies.config.naming);
    const policies = findStored(dependencies.registry, group, version, 'validatingadmissionpolicies');
    return policies ? new PolicyStatus(dependencies, policies) : idle;
  },
});

class PolicyStatus implements RunningReconciler {
  private readonly queue;
  private readonly end: () => void;

  constructor(
    private readonly dependencies: ReconcilerDependencies,
    private readonly policies: ServedResource,
  ) {
    this.queue = dependencies.queue('policy-status', (name, signal) => this.reconcile(name, signal));
    this.end = followNames(policies, (_, name) => this.queue.add(name));
  }

  async stop(): Promise<void> {
    this.end();
    await this.queue.stop();
  }

  private async reconcile(name: string, signal: AbortSignal): Promise<void> {
    const { store } = this.policies;
    const known = store.cache.get(store.keyOf('', name));
    if (!known || known.corruption) return;
    const policy: ValidatingAdmissionPolicy = known.parse();
    if (isObserved(policy)) return;
    const expressionWarnings = await this.check(policy);
    await this.dependencies.client.change(
      { served: this.policies, namespace: '', name },
      (current: ValidatingAdmissionPolicy) => {
        const { generation } = policy.metadata;
        // A newer generation is checked after its own event.
        if (current.metadata.generation !== generation || current.metadata.uid !== policy.metadata.uid) return current;
        const typeChecking = expressionWarnings.length > 0 ? { expressionWarnings } : {};
        return { ...current, status: { ...current.status, observedGeneration: generation, typeChecking } };
      },
      { subresource: 'status', signal },
    );
  }

  private async check(policy: ValidatingAdmissionPolicy) {
    const provider = new ObjectTypes();
    const { matchConstraints = {}, paramKind } = policy.spec ?? {};
    const matched = matchedResources(matchConstraints, this.dependencies.registry);
    const version = parseApiVersion(paramKind?.apiVersion ?? '');
    const params = version && this.typeOfKind({ ...version, kind: paramKind?.kind ?? '' }, provider);
    const kinds = matched.flatMap((served) => {
      const object = typeOf(served, provider);
      const { group, version, kind } = served.definition;
      return object ? [{ kind: { group, version, kind }, objects: { object, params, provider } }] : [];
    });
    return new YieldTimer(this.dependencies.clock).run(typeWarnings(policy, kinds));
  }

  private typeOfKind({ group, version, kind }: Kind, provider: ObjectTypes): CelType | undefined {
    const resources = this.dependencies.registry.findVersion(group, version)?.resources ?? [];
    const served = resources.find(({ type, definition }) => type === 'stored' && definition.kind === kind);
    return served?.type === 'stored' ? typeOf(served, provider) : undefined;
  }
}

interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

const isObserved = ({ metadata, status }: ValidatingAdmissionPolicy): boolean =>
  (metadata.generation ?? 0) <= (status?.observedGeneration ?? 0);

/** Returns the type of the objects of a served version; undefined for a custom kind without a schema. */
function typeOf({ struct, definition, store }: ServedResource, provider: ObjectTypes): CelType | undefined {
  if (struct) return provider.ofStruct(struct);
  const schema: Schema | undefined = definition.customType?.openApiSchema;
  return schema && provider.ofSchema(schema, definition.kind, store.dependencies.types.struct('meta.v1.ObjectMeta'));
}
