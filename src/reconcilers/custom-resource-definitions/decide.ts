import type { CustomResourceDefinition, CustomResourceDefinitionStatus } from '../../catalog/types/apiextensions.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import type { Revision } from '../../machinery/revision.js';
import { approvalFinding } from '../../custom-kinds/approval.validation.js';
import { hasBrokenBundle } from '../../custom-kinds/conversion.validation.js';
import {
  conditionsOf,
  holds,
  isEstablished,
  withFinding,
  withoutFinding,
  type Finding,
} from '../../custom-kinds/definition-conditions.js';
import type { Claim } from './claims.js';
import { acceptNames, type AcceptedNames } from './names.js';

/** Input of the status of a definition beside the definition itself. */
export interface StatusInput {
  /** Revision of the definition. */
  readonly revision: Revision;
  /** Claims of the other definitions in its group, as of this revision or later. */
  readonly others: readonly Claim[];
  /** The condition NonStructuralSchema, if there is one. */
  readonly structure: Finding | undefined;
  readonly naming: NamingProfile;
  readonly now: string;
}

/** Computes the status of a definition; undefined if it need not change, and if the definition is being deleted. */
export function statusAfter(
  definition: CustomResourceDefinition,
  input: StatusInput,
): CustomResourceDefinitionStatus | undefined {
  if (definition.metadata.deletionTimestamp !== undefined) return undefined;
  const { revision, others, structure, naming, now } = input;
  const { status = {} } = definition;
  const names = acceptNames(definition, revision, others);
  const before = conditionsOf(definition);
  let conditions = before;
  const approval = approvalFinding(definition, naming);
  if (approval) conditions = withFinding(conditions, approval, now);
  conditions = withFinding(conditions, names.finding, now);
  if (!isEstablished(definition)) conditions = withFinding(conditions, establishment(definition, names), now);
  conditions = structure ? withFinding(conditions, structure, now) : withoutFinding(conditions, 'NonStructuralSchema');
  const { acceptedNames } = names;
  if (conditions === before && acceptedNames === status.acceptedNames) return undefined;
  return { ...status, conditions, acceptedNames };
}

/** The condition Established: True after the accepted names have been written, so that no other server accepts them. */
function establishment(definition: CustomResourceDefinition, { acceptedNames, finding }: AcceptedNames): Finding {
  const type = 'Established';
  const accepted = 'the initial names have been accepted';
  if (finding.status !== 'True') {
    return { type, status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' };
  }
  const isWritten = holds(definition, 'NamesAccepted') && acceptedNames === definition.status?.acceptedNames;
  if (!isWritten) return { type, status: 'False', reason: 'Installing', message: accepted };
  if (hasBrokenBundle(definition.spec?.conversion ?? {})) {
    const message = 'The conversion webhook CABundle is invalid';
    return { type, status: 'False', reason: 'InvalidCABundle', message };
  }
  return { type, status: 'True', reason: 'InitialNamesAccepted', message: accepted };
}
