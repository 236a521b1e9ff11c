import type { AdmissionTrace, TracedPart } from '../../registry/admission-trace.js';
import type { MatchedRequest } from '../request/matched-request.js';

type PolicyKindName = 'ValidatingAdmissionPolicy' | 'MutatingAdmissionPolicy';

const notSelected = 'rules or objectSelector do not select the request';
const namespaceNotSelected = 'namespaceSelector does not select the namespace';
export const conditionIsFalse = 'a match condition is false';

/** Tells the trace of a request, if it has one, what becomes of its policies. */
export class PolicyTrace {
  readonly trace: AdmissionTrace | undefined;

  constructor(
    request: Pick<MatchedRequest, 'attributes'>,
    private readonly kind: PolicyKindName,
  ) {
    this.trace = request.attributes.request.trace;
  }

  partOf(policy: string, binding?: string): TracedPart {
    return { kind: this.kind, name: policy, ...(binding !== undefined && { member: binding }) };
  }

  /** `isRuleMatch` is false if only the namespace is not selected. */
  skip(policy: string, binding: string | undefined, isRuleMatch: boolean): void {
    this.trace?.part({
      ...this.partOf(policy, binding),
      skipped: isRuleMatch ? namespaceNotSelected : notSelected,
    });
  }
}
