import type { AccessCheck, AccessDecision } from '../../cel/libraries/kubernetes/authorizer.js';
import type { MapValue } from '../../cel/values/value.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { UserInfo } from '../../machinery/user-info.js';
import type { Clock } from '../../std/clock.js';
import { awaited, type Awaiting } from '../../std/awaiting.js';
import type { Steps } from '../../std/steps.js';
import { untilReady } from '../../std/not-ready.js';
import { YieldTimer } from '../../std/yield-timer.js';
import type { ObjectReader } from '../object-reader.js';
import { admissionRequest } from '../request/admission-request.js';
import type { PolicyCore } from './compiled-policy.js';
import { PolicyEvaluation, RequestAuthorizer } from './evaluation.js';
import type { PolicyObserver } from './policy-observer.js';
import type { PolicyObjects } from './policy-objects.js';
import type { MatchedRequest } from '../request/matched-request.js';
import type { RequestForm } from '../request/request-form.js';

export interface EvaluationDependencies {
  readonly objects: ObjectReader;
  readonly policyObjects: PolicyObjects;
  readonly policyObserver: PolicyObserver;
  readonly naming: NamingProfile;
  readonly clock: Clock;
  readonly decideAccess: (user: UserInfo, check: AccessCheck) => Promise<AccessDecision>;
}

/**
 * The variables that do not change, for policies which select the request in one version. Most expressions read none of
 * those that are computed.
 */
class FixedVariables {
  private admitted: unknown;
  private checks: ReturnType<RequestAuthorizer['bindings']> | undefined;

  constructor(
    readonly oldObject: KubeObject | null,
    private readonly matched: MatchedRequest,
    private readonly form: RequestForm,
    private readonly access: RequestAuthorizer,
    private readonly naming: NamingProfile,
  ) {}

  get request(): unknown {
    return (this.admitted ??= admissionRequest(this.matched, this.form, this.naming.group('meta')));
  }

  get accessChecks(): ReturnType<RequestAuthorizer['bindings']> {
    return (this.checks ??= this.access.bindings(this.matched));
  }
}

/** The variables of one evaluation. Getters of a class cost nothing for each request, unlike those of a literal. */
class Bindings {
  readonly [name: string]: unknown;

  constructor(
    private readonly fixed: FixedVariables,
    readonly object: KubeObject | null,
    readonly params: KubeObject | null,
    readonly namespaceObject: unknown,
    readonly variables: MapValue,
  ) {}

  get oldObject(): KubeObject | null {
    return this.fixed.oldObject;
  }

  get request(): unknown {
    return this.fixed.request;
  }

  get authorizer(): unknown {
    return this.fixed.accessChecks.authorizer;
  }

  get 'authorizer.requestResource'(): unknown {
    return this.fixed.accessChecks['authorizer.requestResource'];
  }
}

/** An evaluation that policies without params and variables share, since it keeps nothing of their expressions. */
interface SharedEvaluation {
  readonly form: RequestForm;
  readonly object: KubeObject | null;
  readonly evaluation: PolicyEvaluation;
}

const noVariables: PolicyCore['variables'] = new Map();

/** The variables of one request, for all policies. */
export class RequestEvaluation {
  private readonly timer: YieldTimer;
  private readonly authorizer: RequestAuthorizer;
  private readonly fixed = new Map<RequestForm, FixedVariables>();
  private shared: SharedEvaluation | undefined;

  constructor(
    private readonly request: MatchedRequest,
    private readonly dependencies: EvaluationDependencies,
  ) {
    const { user } = request.attributes.request;
    this.timer = new YieldTimer(dependencies.clock);
    this.authorizer = new RequestAuthorizer((check) => dependencies.decideAccess(user, check));
  }

  /** Lets other requests run if the event loop was held long. Rejects if the request was cancelled meanwhile. */
  pauseIfDue(): Promise<void> | undefined {
    return this.timer.isDue() ? this.pause() : undefined;
  }

  /** Runs work in steps, between which other requests run. */
  run<T>(steps: Steps<T>): T | Promise<T> {
    return this.timer.run(steps);
  }

  /** Returns the evaluation that a policy shares with one before; undefined if there is none. */
  sharedOf(
    { variables }: PolicyCore,
    form: RequestForm,
    param: KubeObject | undefined,
    object: KubeObject | null,
  ): PolicyEvaluation | undefined {
    const { shared } = this;
    if (!shared || param !== undefined || variables.size > 0) return undefined;
    return shared.form === form && shared.object === object ? shared.evaluation : undefined;
  }

  /** Returns the evaluation of validations or mutations of a policy, for one param and one state of the object. */
  *of(
    policy: PolicyCore,
    form: RequestForm,
    param: KubeObject | undefined,
    object: KubeObject | null,
  ): Awaiting<PolicyEvaluation> {
    const shared = this.sharedOf(policy, form, param, object);
    if (shared) return shared;
    const { request } = this;
    const { variables } = policy;
    const fixed = yield* this.fixedIn(form);
    const hasNamespace = request.namespace !== '' && !request.isAboutNamespace;
    const finding = hasNamespace ? request.namespaceObject() : null;
    const namespaceObject = finding instanceof Promise ? yield finding : finding;
    const evaluation = this.evaluationOf(variables, fixed, { object, params: param ?? null, namespaceObject });
    if (param === undefined && variables.size === 0) this.shared = { form, object, evaluation };
    return evaluation;
  }

  /** Returns the evaluation of matchConditions for one state of the object: they see no variables and no namespace. */
  *ofConditions(
    form: RequestForm,
    param: KubeObject | undefined,
    object: KubeObject | null,
  ): Awaiting<PolicyEvaluation> {
    const fixed = yield* this.fixedIn(form);
    return this.evaluationOf(noVariables, fixed, { object, params: param ?? null, namespaceObject: null });
  }

  private evaluationOf(
    expressions: PolicyCore['variables'],
    fixed: FixedVariables,
    state: {
      readonly object: KubeObject | null;
      readonly params: KubeObject | null;
      readonly namespaceObject: unknown;
    },
  ): PolicyEvaluation {
    const { object, params, namespaceObject } = state;
    const bindings = (variables: MapValue) => new Bindings(fixed, object, params, namespaceObject, variables);
    return new PolicyEvaluation(expressions, bindings, this.authorizer, this.timer, this.checkCancelled);
  }

  private *fixedIn(form: RequestForm): Awaiting<FixedVariables> {
    let fixed = this.fixed.get(form);
    if (!fixed) {
      const { request, authorizer, dependencies } = this;
      const hasOld = request.attributes.old !== undefined;
      const trace = request.attributes.request.steps?.trace;
      const oldObject = hasOld ? yield* awaited(untilReady(() => request.object('old', form), trace)) : null;
      fixed = new FixedVariables(oldObject, request, form, authorizer, dependencies.naming);
      this.fixed.set(form, fixed);
    }
    return fixed;
  }

  private async pause(): Promise<void> {
    await this.timer.yield();
    this.checkCancelled();
  }

  private readonly checkCancelled = (): void => {
    const { signal } = this.request.attributes.request;
    if (signal?.aborted) throw signal.reason;
  };
}
