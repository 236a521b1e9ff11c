import type { EndpointSlice } from '../../catalog/types/discovery.v1.js';
import { path } from '../../machinery/field-error.js';
import { immutable } from '../../machinery/immutable.js';
import type { Mutable } from '../../machinery/mutable.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { ipWarnings } from '../networking/address-warnings.js';
import { validateEndpointSlice } from './endpoint-slice.validation.js';

export const endpointSliceStrategy: Strategy<EndpointSlice> = {
  validateName: nameIsDnsSubdomain,
  countsGenerations: true,
  default: defaultSlice,
  prepareForCreate: dropTopology,
  prepareForUpdate: dropTopology,
  validateCreate: validateEndpointSlice,
  validateUpdate: (slice, old) => [
    ...validateEndpointSlice(slice),
    ...immutable(slice.addressType, old.addressType, path('addressType')),
  ],
  warnings: (slice, old) => (old === undefined ? addressWarnings(slice) : []),
};

function defaultSlice({ ports }: Mutable<EndpointSlice>): void {
  for (const port of ports ?? []) {
    port.name ??= '';
    port.protocol ??= 'TCP';
  }
}

/** Only v1beta1 had the topology of an endpoint; v1 has nodeName and zone. */
function dropTopology({ endpoints }: Mutable<EndpointSlice>): void {
  for (const endpoint of endpoints ?? []) delete endpoint.deprecatedTopology;
}

function addressWarnings({ addressType, endpoints }: EndpointSlice): string[] {
  if (addressType === 'FQDN') return ['spec.addressType: FQDN endpoints are deprecated'];
  return (endpoints ?? []).flatMap(({ addresses }, i) =>
    (addresses ?? []).flatMap((address, j) =>
      ipWarnings(address, path('endpoints').index(i).child('addresses').index(j)),
    ),
  );
}
