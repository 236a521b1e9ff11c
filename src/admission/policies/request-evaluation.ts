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

/** The variables that do not change, for policies which select the request in one version. */
interface FixedVariables {
  readonly oldObject: KubeObject | null;
  readonly request: unknown;
  readonly authorizer: unknown;
  readonly 'authorizer.requestResource': unknown;
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

  /** Returns the evaluation of validations or mutations of a policy, for one param and one state of the object. */
  *of(
    { variables }: PolicyCore,
    form: RequestForm,
    param: KubeObject | undefined,
    object: KubeObject | null,
  ): Awaiting<PolicyEvaluation> {
    const { shared, request } = this;
    const isShared = param === undefined && variables.size === 0;
    if (isShared && shared?.form === form && shared.object === object) return shared.evaluation;
    const fixed = yield* this.fixedIn(form);
    const hasNamespace = request.namespace !== '' && !request.isAboutNamespace;
    const namespaceObject = hasNamespace ? yield* awaited(request.namespaceObject()) : null;
    const evaluation = this.evaluationOf(variables, fixed, { object, params: param ?? null, namespaceObject });
    if (isShared) this.shared = { form, object, evaluation };
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
    const bindings = (variables: MapValue) => ({
      object,
      oldObject: fixed.oldObject,
      params,
      namespaceObject,
      variables,
      authorizer: fixed.authorizer,
      'authorizer.requestResource': fixed['authorizer.requestResource'],
      // Computed for the first expression that reads it: most do not.
      get request() {
        return fixed.request;
      },
    });
    return new PolicyEvaluation(expressions, bindings, this.authorizer, this.timer, this.checkCancelled);
  }

  private *fixedIn(form: RequestForm): Awaiting<FixedVariables> {
    let fixed = this.fixed.get(form);
    if (!fixed) {
      const { request, authorizer, dependencies } = this;
      const oldObject = yield* awaited(untilReady(() => request.object('old', form)));
      let admitted: unknown;
      fixed = {
        oldObject,
        get request() {
          return (admitted ??= admissionRequest(request, form, dependencies.naming.group('meta')));
        },
        ...authorizer.bindings(request),
      };
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
