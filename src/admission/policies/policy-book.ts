import type {
  MutatingAdmissionPolicy,
  ParamRef,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../../catalog/types/admissionregistration.v1.js';
import type { Clock } from '../../std/clock.js';
import { YieldTimer } from '../../std/yield-timer.js';
import type { Steps } from '../../std/steps.js';
import { brokenPolicy, type CompiledMutatingPolicy, type CompiledPolicy } from './compiled-policy.js';
import type { PolicyListener, PolicyObjects } from './policy-objects.js';
import { RequestMatch } from '../request/request-match.js';

/** A binding whose selectors are compiled. */
export interface CompiledBinding {
  readonly name: string;
  readonly policyName: string;
  readonly paramRef: ParamRef | undefined;
  readonly match: RequestMatch;
  /** `Deny`, `Warn` and `Audit` */
  readonly actions: ReadonlySet<string>;
  readonly actionList: readonly string[];
}

/** A policy in force: one with a binding. */
export interface BoundPolicy<Policy = CompiledPolicy> {
  readonly policy: Policy;
  readonly bindings: readonly CompiledBinding[];
}

type StoredPolicy = ValidatingAdmissionPolicy | MutatingAdmissionPolicy;

/** One of the two kinds of policies. */
export interface PolicyKind<Stored, Policy> {
  readonly policies: string;
  readonly bindings: string;
  readonly compile: (policy: Stored) => Steps<Policy>;
}

/**
 * The policies in force, ordered by name, kept from the caches. A policy is compiled once, after its change and beside
 * requests; writes wait for it, so that a change is in force for all that come after its event. At a start, they wait
 * until the stored policies are known.
 */
export class PolicyBook<Stored extends StoredPolicy, Policy extends CompiledPolicy | CompiledMutatingPolicy> {
  private readonly policies = new Map<string, Stored>();
  private readonly compiled = new Map<Stored, Policy>();
  private readonly bindings = new Map<string, CompiledBinding>();
  private bound: readonly BoundPolicy<Policy>[] = [];
  private updating: Promise<void> | undefined;
  private isOutdated = false;
  private readonly loads: Promise<void>[] = [];
  private readonly loading = (ready: Promise<void>): void => {
    this.loads.push(ready.catch(() => undefined));
    this.outdate();
  };

  constructor(
    objects: PolicyObjects,
    group: string,
    private readonly kind: PolicyKind<Stored, Policy>,
    private readonly clock: Clock,
  ) {
    objects.follow(group, 'v1', kind.policies, this.policyListener());
    objects.follow(group, 'v1', kind.bindings, this.bindingListener());
  }

  /** Returns a promise only while a changed policy is being compiled. */
  current(): readonly BoundPolicy<Policy>[] | Promise<readonly BoundPolicy<Policy>[]> {
    return this.updating ? this.updating.then(() => this.current()) : this.bound;
  }

  private policyListener(): PolicyListener {
    return {
      loading: this.loading,
      changed: (name, policy) => {
        this.replace(name, policy as StoredPolicy as Stored);
        this.outdate();
      },
      deleted: (name) => {
        this.replace(name, undefined);
        this.outdate();
      },
    };
  }

  private bindingListener(): PolicyListener {
    return {
      loading: this.loading,
      changed: (name, binding: ValidatingAdmissionPolicyBinding) => {
        this.bindings.set(name, compileBinding(name, binding));
        this.outdate();
      },
      deleted: (name) => {
        this.bindings.delete(name);
        this.outdate();
      },
    };
  }

  private replace(name: string, policy: Stored | undefined): void {
    const before = this.policies.get(name);
    const compiled = before && this.compiled.get(before);
    if (before) this.compiled.delete(before);
    if (!policy) {
      this.policies.delete(name);
      return;
    }
    this.policies.set(name, policy);
    // The reconciler writes the status of each policy after its creation.
    if (compiled && before.metadata.generation === policy.metadata.generation && isSameObject(before, policy)) {
      this.compiled.set(policy, compiled);
    }
  }

  private outdate(): void {
    this.isOutdated = true;
    this.updating ??= this.update();
  }

  private async update(): Promise<void> {
    const timer = new YieldTimer(this.clock);
    // Leaves the event of the cache, which must not wait for compilations.
    await timer.yield();
    while (this.isOutdated) {
      this.isOutdated = false;
      await Promise.all(this.loads.splice(0));
      const bound = await this.boundPolicies(timer);
      if (!this.isOutdated) this.bound = bound;
    }
    this.updating = undefined;
  }

  private async boundPolicies(timer: YieldTimer): Promise<BoundPolicy<Policy>[]> {
    const byPolicy = new Map<string, CompiledBinding[]>();
    for (const name of [...this.bindings.keys()].sort()) {
      const binding = this.bindings.get(name)!;
      const others = byPolicy.get(binding.policyName);
      if (others) others.push(binding);
      else byPolicy.set(binding.policyName, [binding]);
    }
    const bound: BoundPolicy<Policy>[] = [];
    for (const [name, bindings] of [...byPolicy].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const stored = this.policies.get(name);
      if (!stored) continue;
      let policy = this.compiled.get(stored);
      if (!policy) {
        policy = await this.compile(stored, timer);
        if (this.policies.get(name) === stored) this.compiled.set(stored, policy);
      }
      bound.push({ policy, bindings });
    }
    return bound;
  }

  private async compile(policy: Stored, timer: YieldTimer): Promise<Policy> {
    try {
      return await timer.run(this.kind.compile(policy));
    } catch (error) {
      return brokenPolicy(policy, error) as CompiledPolicy & CompiledMutatingPolicy & Policy;
    }
  }
}

const isSameObject = (a: StoredPolicy, b: StoredPolicy): boolean => a.metadata.uid === b.metadata.uid;

function compileBinding(name: string, { spec = {} }: ValidatingAdmissionPolicyBinding): CompiledBinding {
  const actionList = spec.validationActions ?? [];
  return {
    name,
    policyName: spec.policyName ?? '',
    paramRef: spec.paramRef,
    match: new RequestMatch(spec.matchResources ?? {}),
    actions: new Set(actionList),
    actionList,
  };
}
