import type { NamingProfile } from '../../config/naming-profile.js';
import { asFields, type Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
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
import { giveNames, type Given } from './names.js';

export interface Surroundings {
  /** At which the definition was read. */
  readonly revision: Revision;
  /** The other definitions of its group, as of this revision or later. */
  readonly others: readonly Claim[];
  /** What there is to say of its schemas. */
  readonly structure: Finding | undefined;
  readonly naming: NamingProfile;
  readonly now: string;
}

/** The status that a definition should have, where it has another one. One that is deleted gets nothing more. */
export function statusAfter(definition: KubeObject, surroundings: Surroundings): Fields | undefined {
  if (definition.metadata.deletionTimestamp !== undefined) return undefined;
  const { revision, others, structure, naming, now } = surroundings;
  const status = asFields(definition['status']);
  const given = giveNames(definition, revision, others);
  const before = conditionsOf(definition);
  let conditions = before;
  const approval = approvalFinding(definition, naming);
  if (approval) conditions = withFinding(conditions, approval, now);
  conditions = withFinding(conditions, given.finding, now);
  if (!isEstablished(definition)) conditions = withFinding(conditions, establishment(definition, given), now);
  conditions = structure ? withFinding(conditions, structure, now) : withoutFinding(conditions, 'NonStructuralSchema');
  const { acceptedNames } = given;
  if (conditions === before && acceptedNames === status['acceptedNames']) return undefined;
  return { ...status, conditions, acceptedNames };
}

/** Names that are taken are written before anything is served under them. */
function establishment(definition: KubeObject, { acceptedNames, finding }: Given): Finding {
  const type = 'Established';
  const accepted = 'the initial names have been accepted';
  if (finding.status !== 'True') {
    return { type, status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' };
  }
  const isWritten =
    holds(definition, 'NamesAccepted') && acceptedNames === asFields(definition['status'])['acceptedNames'];
  if (!isWritten) return { type, status: 'False', reason: 'Installing', message: accepted };
  if (hasBrokenBundle(asFields(asFields(definition['spec'])['conversion']))) {
    const message = 'The conversion webhook CABundle is invalid';
    return { type, status: 'False', reason: 'InvalidCABundle', message };
  }
  return { type, status: 'True', reason: 'InitialNamesAccepted', message: accepted };
}
