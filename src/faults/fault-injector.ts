import { encodeJson } from '../codec/json.js';
import type { InjectCall, InjectedCall, WebhookSubject } from '../kubeconfig-client/injected-call.js';
import type { RequestInfo } from '../machinery/request-info.js';
import type { UserInfo } from '../machinery/user-info.js';
import { SeededRng, type Rng } from '../std/rng.js';
import {
  noFaults,
  type Fault,
  type FaultMatch,
  type FaultPlan,
  type FaultRule,
  type RequestRule,
  type WebhookRule,
} from './fault-plan.js';
import { namesObject } from './fault-error.js';
import type { WebhookFault, WebhookMatch } from './webhook-fault.js';

interface FaultSubject {
  readonly info: RequestInfo;
  readonly user: UserInfo;
  readonly userAgent: string;
}

export interface RuleCounts {
  readonly name: string;
  readonly matched: number;
  readonly injected: number;
}

/** Chooses the faults of requests and of calls of webhooks by the plan in force. */
export class FaultInjector {
  private current = noFaults;
  private rules: readonly ActiveRule[] = [];
  private requestRules: readonly ActiveRule<RequestRule>[] = [];
  private webhookRules: readonly ActiveRule<WebhookRule>[] = [];
  private ofHeaders = 0;

  /** `planChanged` gets the plan that was set. */
  constructor(private readonly planChanged: (plan: FaultPlan) => void = () => undefined) {}

  get plan(): FaultPlan {
    return this.current;
  }

  /** Replaces the plan; all rules count from zero. */
  setPlan(plan: FaultPlan): void {
    this.current = plan;
    this.rules = plan.rules.map((rule, index) => new ActiveRule(rule, new SeededRng(mixed(plan.seed, index))));
    this.requestRules = this.rules.filter((active): active is ActiveRule<RequestRule> => 'match' in active.rule);
    this.webhookRules = this.rules.filter((active): active is ActiveRule<WebhookRule> => 'webhooks' in active.rule);
    this.planChanged(plan);
  }

  /** True if the faults of a request, or the errors that they inject, depend on the name of the object. */
  dependsOnName(subject: FaultSubject): boolean {
    return this.requestRules.some(
      ({ rule: { match, fault } }) =>
        (match.names !== undefined || namesObject(fault)) && matchesAllButName(match, subject),
    );
  }

  /** The faults of one request: each rule that matches adds its own, the first of two equal kinds wins. */
  choose(subject: FaultSubject): Fault | undefined {
    let chosen: Fault | undefined;
    for (const active of this.requestRules) {
      if (!matches(active.rule.match, subject)) continue;
      if (active.isChosen()) chosen = { ...active.rule.fault, ...chosen };
    }
    return chosen;
  }

  /** The fault of one call of a webhook, joined as those of requests. */
  readonly injectCall: InjectCall = (subject, reviewWith) => {
    let chosen: WebhookFault | undefined;
    for (const active of this.webhookRules) {
      if (!matchesCall(active.rule.webhooks, subject)) continue;
      if (active.isChosen()) chosen = { ...active.rule.fault, ...chosen };
    }
    return chosen && { latencyMs: chosen.latencyMs ?? 0, result: resultOf(chosen, reviewWith) };
  };

  countHeaderFault(): void {
    this.ofHeaders++;
  }

  get counts(): { readonly rules: readonly RuleCounts[]; readonly headers: number } {
    return { rules: this.rules.map((rule) => rule.counts), headers: this.ofHeaders };
  }
}

/** Different seeds for the rules of a plan, so that one more rule does not change the choices of the others. */
function mixed(seed: number, index: number): number {
  return (Math.imul(seed | 0, 0x9e3779b1) + Math.imul(index + 1, 0x85ebca6b)) | 0;
}

class ActiveRule<R extends FaultRule = FaultRule> {
  private matched = 0;
  private injected = 0;

  constructor(
    readonly rule: R,
    private readonly rng: Rng,
  ) {}

  get counts(): RuleCounts {
    return { name: this.rule.name, matched: this.matched, injected: this.injected };
  }

  /** Counts a match; true if it gets the fault. */
  isChosen(): boolean {
    const { skip, limit, probability } = this.rule;
    this.matched++;
    // Drawn for every match, so that skip and limit do not change which ones are chosen.
    const isDrawn = this.rng.below(resolution) < probability * resolution;
    if (!isDrawn || this.matched <= skip || this.injected >= limit) return false;
    this.injected++;
    return true;
  }
}

const resolution = 2 ** 31;

function matches(match: FaultMatch, subject: FaultSubject): boolean {
  return isListed(match.names, subject.info.name) && matchesAllButName(match, subject);
}

function matchesAllButName(match: FaultMatch, { info, user, userAgent }: FaultSubject): boolean {
  return (
    isListed(match.verbs, info.verb) &&
    isListed(match.resources, resourceText(info)) &&
    isListed(match.namespaces, info.namespace) &&
    isListed(match.users, user.name) &&
    isListed(match.userAgents, userAgent)
  );
}

function matchesCall(match: WebhookMatch, { kind, configuration, name, user }: WebhookSubject): boolean {
  return (
    isListed(match.kinds, kind) &&
    isListed(match.configurations, configuration) &&
    isListed(match.names, name) &&
    (user === undefined ? match.users === undefined : isListed(match.users, user))
  );
}

function resultOf({ effect }: WebhookFault, reviewWith: Parameters<InjectCall>[1]): InjectedCall['result'] {
  if (typeof effect !== 'object' || 'status' in effect) return effect;
  return { status: 200, body: encodeJson(reviewWith(effect)) };
}

function isListed(patterns: readonly string[] | undefined, text: string): boolean {
  if (!patterns) return true;
  return patterns.some((pattern) => (pattern.endsWith('*') ? text.startsWith(pattern.slice(0, -1)) : pattern === text));
}

/** `deployments.apps/status` */
function resourceText({ group, resource, subresource }: RequestInfo): string {
  return `${resource}${group === '' ? '' : `.${group}`}${subresource === '' ? '' : `/${subresource}`}`;
}
