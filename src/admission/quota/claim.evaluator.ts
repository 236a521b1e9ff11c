import type { PersistentVolumeClaim } from '../../catalog/types/core.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { Quantity } from '../../machinery/quantity.js';
import { one, parseAmount } from '../amounts.js';
import type { Evaluator } from './evaluator.js';
import { claimScope } from './scopes.js';

const plainNames = ['count/persistentvolumeclaims', 'persistentvolumeclaims', 'requests.storage'];

/** Counts PersistentVolumeClaims and the storage that they request, in total and by StorageClass. */
export function claimEvaluator(naming: NamingProfile): Evaluator {
  const ofClass = `.storageclass.${naming.group('storage')}/`;
  const classAnnotation = naming.label('storage-class', 'volume.beta');
  return {
    handles: (operation, subresource) => (operation === 'CREATE' || operation === 'UPDATE') && subresource === '',
    counts: (name) =>
      plainNames.includes(name) ||
      [`${ofClass}persistentvolumeclaims`, `${ofClass}requests.storage`].some((end) => name.endsWith(end)),
    matchesScope: claimScope,
    usage(claim: PersistentVolumeClaim) {
      const usage = new Map([
        ['count/persistentvolumeclaims', one],
        ['persistentvolumeclaims', one],
      ]);
      const storage = storageOf(claim);
      if (storage) usage.set('requests.storage', storage);
      const className = claim.metadata.annotations?.[classAnnotation] ?? claim.spec?.storageClassName ?? '';
      if (className !== '') {
        usage.set(`${className}${ofClass}persistentvolumeclaims`, one);
        if (storage) usage.set(`${className}${ofClass}requests.storage`, storage);
      }
      return usage;
    },
  };
}

/** Returns the larger of requested and allocated storage, in whole bytes: an expansion may have allocated more. */
function storageOf({ spec, status }: PersistentVolumeClaim): Quantity | undefined {
  const requested = parseAmount(spec?.resources?.requests?.['storage']);
  const allocated = parseAmount(status?.allocatedResources?.['storage']);
  const amount = requested && allocated && allocated.compare(requested) > 0 ? allocated : requested;
  return amount && Quantity.ofInteger(amount.toInteger(), amount.format);
}
