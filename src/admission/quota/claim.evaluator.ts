import type { NamingProfile } from '../../config/naming-profile.js';
import { asFields, asText } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { Quantity } from '../../machinery/quantity.js';
import { one, readAmount } from '../amounts.js';
import type { Evaluator } from './evaluator.js';
import { claimScope } from './scopes.js';

const plain = ['count/persistentvolumeclaims', 'persistentvolumeclaims', 'requests.storage'];

/** Claims are counted, and so is the storage they ask for; both once more for the class they name. */
export function claimEvaluator(naming: NamingProfile): Evaluator {
  const ofClass = `.storageclass.${naming.group('storage')}/`;
  const ownClass = naming.label('storage-class', 'volume.beta');
  return {
    handles: (operation, subresource) => (operation === 'CREATE' || operation === 'UPDATE') && subresource === '',
    counts: (name) =>
      plain.includes(name) ||
      [`${ofClass}persistentvolumeclaims`, `${ofClass}requests.storage`].some((end) => name.endsWith(end)),
    matchesScope: claimScope,
    usage(claim) {
      const usage = new Map([
        ['count/persistentvolumeclaims', one],
        ['persistentvolumeclaims', one],
      ]);
      const storage = storageOf(claim);
      if (storage) usage.set('requests.storage', storage);
      const className = claim.metadata.annotations?.[ownClass] ?? asText(asFields(claim['spec'])['storageClassName']);
      if (className !== '') {
        usage.set(`${className}${ofClass}persistentvolumeclaims`, one);
        if (storage) usage.set(`${className}${ofClass}requests.storage`, storage);
      }
      return usage;
    },
  };
}

/** A volume may have grown beyond what is asked for, and takes whole bytes. */
function storageOf(claim: KubeObject): Quantity | undefined {
  const { requests } = asFields(asFields(claim['spec'])['resources']);
  const asked = readAmount(asFields(requests)['storage']);
  const allocated = readAmount(asFields(asFields(claim['status'])['allocatedResources'])['storage']);
  const amount = asked && allocated && allocated.compare(asked) > 0 ? allocated : asked;
  return amount && Quantity.ofInteger(amount.toInteger(), amount.format);
}
