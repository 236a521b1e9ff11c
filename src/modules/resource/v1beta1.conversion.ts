import type * as v1 from '../../catalog/types/resource.v1.js';
import type * as v1beta1 from '../../catalog/types/resource.v1beta1.js';
import { isSet } from '../../machinery/fields.js';

/**
 * Converts requests and devices, whose fields have another location in v1beta1:
 *
 *   request: { name, deviceClassName, count, … }  →  { name, exactly: { deviceClassName, count, … } }
 *   device:  { name, basic: { attributes, … } }   →  { name, attributes, … }
 */
export function claimFromV1Beta1(claim: v1beta1.ResourceClaim): v1.ResourceClaim {
  return claim.spec ? { ...claim, spec: claimSpecFromV1Beta1(claim.spec) } : claim;
}

export function claimToV1Beta1(claim: v1.ResourceClaim): v1beta1.ResourceClaim {
  return claim.spec ? { ...claim, spec: claimSpecToV1Beta1(claim.spec) } : claim;
}

export function templateFromV1Beta1(template: v1beta1.ResourceClaimTemplate): v1.ResourceClaimTemplate {
  const { spec } = template;
  return spec?.spec ? { ...template, spec: { ...spec, spec: claimSpecFromV1Beta1(spec.spec) } } : template;
}

export function templateToV1Beta1(template: v1.ResourceClaimTemplate): v1beta1.ResourceClaimTemplate {
  const { spec } = template;
  return spec?.spec ? { ...template, spec: { ...spec, spec: claimSpecToV1Beta1(spec.spec) } } : template;
}

export function sliceFromV1Beta1(slice: v1beta1.ResourceSlice): v1.ResourceSlice {
  const { spec } = slice;
  return spec?.devices ? { ...slice, spec: { ...spec, devices: spec.devices.map(deviceFromV1Beta1) } } : slice;
}

export function sliceToV1Beta1(slice: v1.ResourceSlice): v1beta1.ResourceSlice {
  const { spec } = slice;
  return spec?.devices ? { ...slice, spec: { ...spec, devices: spec.devices.map(deviceToV1Beta1) } } : slice;
}

function claimSpecFromV1Beta1(spec: v1beta1.ResourceClaimSpec): v1.ResourceClaimSpec {
  const { devices } = spec;
  if (!devices?.requests) return spec;
  return { ...spec, devices: { ...devices, requests: devices.requests.map(requestFromV1Beta1) } };
}

function claimSpecToV1Beta1(spec: v1.ResourceClaimSpec): v1beta1.ResourceClaimSpec {
  const { devices } = spec;
  if (!devices?.requests) return spec;
  return { ...spec, devices: { ...devices, requests: devices.requests.map(requestToV1Beta1) } };
}

/** Returns a request with `exactly` if it has no alternatives or any other field that is set. */
function requestFromV1Beta1({ name, firstAvailable, ...exactly }: v1beta1.DeviceRequest): v1.DeviceRequest {
  const hasAlternatives = firstAvailable !== undefined && firstAvailable.length > 0;
  const isExact = !hasAlternatives || Object.values(exactly).some((value) => isSet(value) && value !== '');
  return { name, ...(isExact && { exactly }), ...(firstAvailable && { firstAvailable }) };
}

function requestToV1Beta1({ name, exactly, firstAvailable }: v1.DeviceRequest): v1beta1.DeviceRequest {
  // v1beta1 writes an empty deviceClassName.
  return { name, deviceClassName: '', ...exactly, ...(firstAvailable && { firstAvailable }) };
}

function deviceFromV1Beta1({ name, basic }: v1beta1.Device): v1.Device {
  return { name, ...basic };
}

function deviceToV1Beta1({ name, ...basic }: v1.Device): v1beta1.Device {
  return { name, basic };
}
