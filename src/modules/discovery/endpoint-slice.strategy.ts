import { path } from '../../machinery/field-error.js';
import { asItems, asTexts, fillIn, type Fields } from '../../machinery/fields.js';
import { immutable } from '../../machinery/immutable.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import type { Strategy } from '../../registry/strategy.js';
import { ipWarnings } from '../networking/address-warnings.js';
import { validateEndpointSlice } from './endpoint-slice.validation.js';

export const endpointSliceStrategy: Strategy = {
  validateName: nameIsDnsSubdomain,
  countsGenerations: true,
  default: defaultSlice,
  prepareForCreate: dropTopology,
  prepareForUpdate: dropTopology,
  validateCreate: validateEndpointSlice,
  validateUpdate: (slice, old) => [
    ...validateEndpointSlice(slice),
    ...immutable(slice['addressType'], old['addressType'], path('addressType')),
  ],
  warnings: (slice, old) => (old === undefined ? addressWarnings(slice) : []),
};

function defaultSlice(slice: Fields): void {
  for (const port of asItems(slice['ports'])) {
    fillIn(port, 'name', '');
    fillIn(port, 'protocol', 'TCP');
  }
}

/** Where endpoints are is said by nodeName and zone; this was another way, which only an older version offered. */
function dropTopology(slice: KubeObject): void {
  for (const endpoint of asItems(slice['endpoints'])) delete endpoint['deprecatedTopology'];
}

function addressWarnings(slice: KubeObject): string[] {
  if (slice['addressType'] === 'FQDN') return ['spec.addressType: FQDN endpoints are deprecated'];
  return asItems(slice['endpoints']).flatMap(({ addresses }, i) =>
    asTexts(addresses).flatMap((address, j) =>
      ipWarnings(address, path('endpoints').index(i).child('addresses').index(j)),
    ),
  );
}
