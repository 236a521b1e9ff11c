import type { KubeObject } from '../machinery/kube-object.js';

/** A policy or webhook that a plug-in has considered for a request. */
export interface TracedPart {
  /** `ValidatingAdmissionPolicy`, `MutatingWebhookConfiguration` */
  readonly kind: string;
  readonly name: string;
  /** The binding of a policy, or the webhook in its configuration. */
  readonly member?: string;
  /** Reason for which it did not apply to the request; absent if it did. */
  readonly skipped?: string;
  /** Its error, refusal or warning. */
  readonly message?: string;
}

/** Receives what admission does with a request, to explain it. */
export interface AdmissionTrace {
  /** Runs a step of a plug-in. `object` is changed in place. */
  step(
    plugin: string,
    step: 'admit' | 'validate',
    object: KubeObject | undefined,
    run: () => void | Promise<void>,
  ): Promise<void>;
  part(part: TracedPart): void;
  /** Runs a part, whose duration and changes of `object` are recorded, or the reason it resolves with for not applying. */
  run(part: TracedPart, object: KubeObject | undefined, run: () => Promise<string | void>): Promise<void>;
}
