import type {
  DeviceSubRequest,
  DeviceToleration,
  ExactDeviceRequest,
  ResourceClaimSpec,
} from '../../catalog/types/resource.v1.js';
import type { Mutable } from '../../machinery/mutable.js';

/** Sets the defaults of the requests of a ResourceClaim or of a claim template: one device each. */
export function defaultClaimSpec({ devices }: Mutable<ResourceClaimSpec>): void {
  for (const { exactly, firstAvailable } of devices?.requests ?? []) {
    if (exactly) defaultRequest(exactly);
    for (const alternative of firstAvailable ?? []) defaultRequest(alternative);
  }
}

function defaultRequest(request: Mutable<ExactDeviceRequest | DeviceSubRequest>): void {
  request.allocationMode ||= 'ExactCount';
  if (request.allocationMode === 'ExactCount') request.count ||= 1;
  defaultTolerations(request.tolerations);
}

function defaultTolerations(tolerations: Mutable<DeviceToleration>[] | undefined): void {
  for (const toleration of tolerations ?? []) toleration.operator ||= 'Equal';
}
