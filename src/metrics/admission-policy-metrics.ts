import type { PolicyObserver } from '../admission/policies/policy-observer.js';
import { Counters, Histograms } from './labelled-series.js';
import type { MatchConditionMetrics } from './match-condition-metrics.js';
import { family, type MetricFamily } from './metric-family.js';

// Buckets of kube-apiserver.
const bounds = [0.0000005, 0.001, 0.01, 0.1, 1];

/** Metrics of ValidatingAdmissionPolicies and MutatingAdmissionPolicies, by policy and binding. */
export class AdmissionPolicyMetrics implements PolicyObserver {
  private readonly validations = new Counters();
  private readonly validationDurations = new Histograms(bounds);
  private readonly mutations = new Counters();
  private readonly mutationDurations = new Histograms(bounds);

  constructor(private readonly conditions: MatchConditionMetrics) {}

  validated({ policy, binding, errorType, action }: Parameters<PolicyObserver['validated']>[0], seconds: number): void {
    const labels = { policy, policy_binding: binding, error_type: errorType, enforcement_action: action };
    this.validations.add(labels);
    this.validationDurations.observe(labels, seconds);
  }

  mutated({ policy, binding, errorType }: Parameters<PolicyObserver['mutated']>[0], seconds: number): void {
    const labels = { policy, policy_binding: binding, error_type: errorType };
    this.mutations.add(labels);
    this.mutationDurations.observe(labels, seconds);
  }

  conditionsEvaluated(name: string, operation: string, seconds: number, isFailed: boolean): void {
    // kube-apiserver has the type `validate` for both kinds of policies, and counts no exclusions of policies.
    const labels = { name, kind: 'policy', type: 'validate', operation };
    this.conditions.evaluated(labels, seconds);
    if (isFailed) this.conditions.failed(labels);
  }

  families(): MetricFamily[] {
    return [
      family(
        'apiserver_validating_admission_policy_check_total',
        'counter',
        '[BETA] Failed validations of ValidatingAdmissionPolicies, by policy, binding, kind of error and action.',
        () => this.validations.samples(),
      ),
      family(
        'apiserver_validating_admission_policy_check_duration_seconds',
        'histogram',
        '[BETA] Duration of a failed validation in seconds, by policy, binding, kind of error and action.',
        () => this.validationDurations.samples(),
      ),
      family(
        'apiserver_mutating_admission_policy_check_total',
        'counter',
        '[ALPHA] Mutations of MutatingAdmissionPolicies, by policy, binding and kind of error.',
        () => this.mutations.samples(),
      ),
      family(
        'apiserver_mutating_admission_policy_check_duration_seconds',
        'histogram',
        '[ALPHA] Duration of a mutation in seconds, by policy, binding and kind of error.',
        () => this.mutationDurations.samples(),
      ),
    ];
  }
}
