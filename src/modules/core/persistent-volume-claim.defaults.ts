import { asFields, asItems, fillIn, fillInZero, isSet, makeFields, type Fields } from '../../machinery/fields.js';
import { normalizeAmounts, normalizeResources } from './pod/pod-resources.js';

/** Also for the templates of claims that stateful sets carry. */
export function defaultClaim(claim: Fields): void {
  const spec = makeFields(claim, 'spec');
  defaultClaimSpec(spec);
  const status = makeFields(claim, 'status');
  fillInZero(status, 'phase', 'Pending');
  for (const amounts of ['capacity', 'allocatedResources']) normalizeAmounts(status[amounts]);
  for (const condition of asItems(status['conditions'])) {
    for (const time of ['lastProbeTime', 'lastTransitionTime']) condition[time] ??= null;
  }
}

/** Also for the volumes that live and die with a pod. */
export function defaultClaimSpec(spec: Fields): void {
  fillIn(spec, 'resources', {});
  normalizeResources(asFields(spec['resources']));
  fillIn(spec, 'volumeMode', 'Filesystem');
  for (const field of ['dataSource', 'dataSourceRef']) {
    if (isSet(spec[field])) asFields(spec[field])['apiGroup'] ??= null;
  }
}
