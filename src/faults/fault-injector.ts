import type { RequestInfo } from '../machinery/request-info.js';
import type { UserInfo } from '../machinery/user-info.js';
import { SeededRng, type Rng } from '../std/rng.js';
import { noFaults, type Fault, type FaultMatch, type FaultPlan, type FaultRule } from './fault-plan.js';

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

/** Chooses the faults of requests by the plan in force. */
export class FaultInjector {
  private current = noFaults;
  private rules: readonly ActiveRule[] = [];
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
    this.planChanged(plan);
  }

  /** The faults of one request: each rule that matches adds its own, the first of two equal kinds wins. */
  choose(subject: FaultSubject): Fault | undefined {
    let chosen: Fault | undefined;
    for (const rule of this.rules) {
      const fault = rule.choose(subject);
      if (fault) chosen = { ...fault, ...chosen };
    }
    return chosen;
  }

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

class ActiveRule {
  private matched = 0;
  private injected = 0;

  constructor(
    private readonly rule: FaultRule,
    private readonly rng: Rng,
  ) {}

  get counts(): RuleCounts {
    return { name: this.rule.name, matched: this.matched, injected: this.injected };
  }

  choose(subject: FaultSubject): Fault | undefined {
    const { match, skip, limit, probability, fault } = this.rule;
    if (!matches(match, subject)) return undefined;
    this.matched++;
    // Drawn for every matching request, so that skip and limit do not change which ones are chosen.
    const isChosen = this.rng.below(resolution) < probability * resolution;
    if (!isChosen || this.matched <= skip || this.injected >= limit) return undefined;
    this.injected++;
    return fault;
  }
}

const resolution = 2 ** 31;

function matches(match: FaultMatch, { info, user, userAgent }: FaultSubject): boolean {
  return (
    isListed(match.verbs, info.verb) &&
    isListed(match.resources, resourceText(info)) &&
    isListed(match.namespaces, info.namespace) &&
    isListed(match.names, info.name) &&
    isListed(match.users, user.name) &&
    isListed(match.userAgents, userAgent)
  );
}

function isListed(patterns: readonly string[] | undefined, text: string): boolean {
  if (!patterns) return true;
  return patterns.some((pattern) => (pattern.endsWith('*') ? text.startsWith(pattern.slice(0, -1)) : pattern === text));
}

/** `deployments.apps/status` */
function resourceText({ group, resource, subresource }: RequestInfo): string {
  return `${resource}${group === '' ? '' : `.${group}`}${subresource === '' ? '' : `/${subresource}`}`;
}
