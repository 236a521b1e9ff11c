import type { AccessCheck, AccessDecision } from '../../cel/libraries/kubernetes/authorizer.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { UserInfo } from '../../machinery/user-info.js';
import type { Clock } from '../../std/clock.js';
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

/** The evaluations of a policy: of its validations or mutations, and of its matchConditions, which see no namespace. */
interface Evaluations {
  readonly evaluation: PolicyEvaluation;
  readonly ofConditions: PolicyEvaluation;
}

/** The variables of one request, for all policies. */
export class RequestEvaluation {
  private readonly timer: YieldTimer;
  private readonly authorizer: RequestAuthorizer;
  private readonly variables = new Map<RequestForm, Readonly<Record<string, unknown>>>();

  constructor(
    private readonly request: MatchedRequest,
    private readonly dependencies: EvaluationDependencies,
  ) {
    const { user } = request.attributes.request;
    this.timer = new YieldTimer(dependencies.clock);
    this.authorizer = new RequestAuthorizer((check) => dependencies.decideAccess(user, check));
  }

  /** Lets other requests run if the event loop was held long. Throws if the request was cancelled meanwhile. */
  async pauseIfDue(): Promise<void> {
    if (!this.timer.isDue()) return;
    await this.timer.yield();
    this.checkCancelled();
  }

  /** Runs work in steps, between which other requests run. */
  run<T>(steps: Steps<T>): T | Promise<T> {
    return this.timer.run(steps);
  }

  /** Returns the evaluations of a policy for one param and one state of the object. */
  async of(
    { variables }: PolicyCore,
    form: RequestForm,
    param: KubeObject | undefined,
    object: KubeObject | null,
  ): Promise<Evaluations> {
    const { request, authorizer, timer } = this;
    await this.pauseIfDue();
    const bindings = { ...(await this.variablesIn(form)), object, params: param ?? null };
    const hasNamespace = request.namespace !== '' && !request.isAboutNamespace;
    const withNamespace = { ...bindings, namespaceObject: hasNamespace ? await request.namespaceObject() : null };
    const check = () => this.checkCancelled();
    return {
      evaluation: new PolicyEvaluation(variables, withNamespace, authorizer, timer, check),
      ofConditions: this.without(bindings),
    };
  }

  /** Returns the evaluation of the matchConditions of a webhook, for one state of the object. */
  async ofConditions(form: RequestForm, object: KubeObject | null): Promise<PolicyEvaluation> {
    await this.pauseIfDue();
    return this.without({ ...(await this.variablesIn(form)), object, params: null });
  }

  /** Returns the evaluation of matchConditions, which see no variables and no namespace. */
  private without(bindings: Readonly<Record<string, unknown>>): PolicyEvaluation {
    const { authorizer, timer } = this;
    const check = () => this.checkCancelled();
    return new PolicyEvaluation(new Map(), { ...bindings, namespaceObject: null }, authorizer, timer, check);
  }

  /** Returns the variables that do not change, for policies which select the request in this version. */
  private async variablesIn(form: RequestForm): Promise<Readonly<Record<string, unknown>>> {
    let variables = this.variables.get(form);
    if (!variables) {
      const { request, authorizer, dependencies } = this;
      const oldObject = await untilReady(() => request.object('old', form));
      await this.pauseIfDue();
      variables = {
        oldObject,
        request: admissionRequest(request, form, dependencies.naming.group('meta')),
        ...authorizer.bindings(request),
      };
      this.variables.set(form, variables);
    }
    return variables;
  }

  private checkCancelled(): void {
    const { signal } = this.request.attributes.request;
    if (signal?.aborted) throw signal.reason;
  }
}
