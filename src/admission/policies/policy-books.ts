import type {
  MutatingAdmissionPolicy,
  ValidatingAdmissionPolicy,
} from '../../catalog/types/admissionregistration.v1.js';
import type { GroupResource } from '../../machinery/gvk.js';
import type { AdmissionAttributes, UnchangedUpdate } from '../admission-plugin.js';
import type { ManifestPlugin } from '../configuration/manifest-directory.configuration.js';
import type { PluginDependencies } from '../plugin-dependencies.js';
import type { CompiledMutatingPolicy, CompiledPolicy } from './compiled-policy.js';
import { exemptFromPolicies, exemptFromStoredPolicies } from './exempt-resources.js';
import { RuleCandidates } from '../request/rule-candidates.js';
import { PolicyBook, type BoundPolicy, type PolicyKind } from './policy-book.js';

type RequestedWrite = Pick<AdmissionAttributes, 'served' | 'operation' | 'resource' | 'request'>;

/**
 * The policies that are stored, after those of manifests. Only those of manifests match policies and bindings, since
 * requests cannot change manifests, and so cannot make themselves impossible.
 */
export class PolicyBooks<
  Stored extends ValidatingAdmissionPolicy | MutatingAdmissionPolicy,
  Policy extends CompiledPolicy | CompiledMutatingPolicy,
> {
  private readonly stored: PolicyBook<Stored, Policy>;
  private readonly ofManifests: PolicyBook<Stored, Policy> | undefined;
  private readonly isExempt: (resource: GroupResource) => boolean;
  private readonly isExemptFromStored: (resource: GroupResource) => boolean;
  private joined: {
    readonly first: readonly BoundPolicy<Policy>[];
    readonly second: readonly BoundPolicy<Policy>[];
    readonly all: readonly BoundPolicy<Policy>[];
  } = { first: [], second: [], all: [] };
  private candidates: {
    readonly of: readonly BoundPolicy<Policy>[];
    readonly found: RuleCandidates<BoundPolicy<Policy>>;
  };

  constructor(
    private readonly dependencies: PluginDependencies,
    plugin: ManifestPlugin,
    kind: PolicyKind<Stored, Policy>,
  ) {
    const { policyObjects, manifests, naming, clock } = dependencies;
    const group = naming.group('admissionregistration');
    this.stored = new PolicyBook(policyObjects, group, kind, clock);
    const objects = manifests.objectsOf(plugin);
    this.ofManifests = objects && new PolicyBook(objects, group, kind, clock);
    this.isExempt = exemptFromPolicies(naming);
    this.isExemptFromStored = exemptFromStoredPolicies(naming);
    this.candidates = this.candidatesOf(none);
  }

  /** True if a policy may select the update, or while a changed one is being compiled. */
  maySelect(update: UnchangedUpdate): boolean {
    const policies = this.policiesFor(update);
    return policies instanceof Promise || policies.length > 0;
  }

  /**
   * Returns the policies whose rules may select the request, for its trace all that are in force; a promise only while a
   * changed one is being compiled.
   */
  policiesFor(attributes: RequestedWrite): readonly BoundPolicy<Policy>[] | Promise<readonly BoundPolicy<Policy>[]> {
    const stored = this.stored.current();
    const first = this.ofManifests?.current() ?? none;
    return stored instanceof Promise || first instanceof Promise
      ? Promise.all([first, stored]).then((all) => this.select(attributes, this.join(attributes.resource, ...all)))
      : this.select(attributes, this.join(attributes.resource, first, stored));
  }

  private select(
    { served, operation, request }: RequestedWrite,
    policies: readonly BoundPolicy<Policy>[],
  ): readonly BoundPolicy<Policy>[] {
    if (policies.length === 0 || !served || request.trace) return policies;
    if (this.candidates.of !== policies) this.candidates = this.candidatesOf(policies);
    return this.candidates.found.of(served, operation);
  }

  private candidatesOf(policies: readonly BoundPolicy<Policy>[]) {
    const { policyObjects } = this.dependencies;
    const found = new RuleCandidates(
      policies,
      ({ policy }) => policy.match,
      (served) => policyObjects.equivalentsOf(served),
    );
    return { of: policies, found };
  }

  private join(
    resource: GroupResource,
    first: readonly BoundPolicy<Policy>[],
    stored: readonly BoundPolicy<Policy>[],
  ): readonly BoundPolicy<Policy>[] {
    if ((first.length === 0 && stored.length === 0) || this.isExempt(resource)) return none;
    if (stored.length === 0 || this.isExemptFromStored(resource)) return first;
    if (first.length === 0) return stored;
    const { joined } = this;
    if (joined.first !== first || joined.second !== stored) {
      this.joined = { first, second: stored, all: [...first, ...stored] };
    }
    return this.joined.all;
  }
}

const none: readonly never[] = [];
