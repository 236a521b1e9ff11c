import type { DeleteOptions } from '../../machinery/delete-options.js';
import type { UserInfo } from '../../machinery/user-info.js';
import type { WriteOptions } from '../../machinery/write-options.js';
import type { AdmissionOperation } from '../admission-operation.js';
import type { AdmissionAttributes } from '../admission-plugin.js';
import type { MatchedRequest } from './matched-request.js';
import type { RequestForm } from './request-form.js';

const optionsKinds: Readonly<Record<AdmissionOperation, string>> = {
  CREATE: 'CreateOptions',
  UPDATE: 'UpdateOptions',
  DELETE: 'DeleteOptions',
  CONNECT: '',
};

/**
 * Returns the variable `request`: the AdmissionRequest without uid, object and oldObject. Empty texts, lists and maps are
 * absent, as in its JSON.
 */
export function admissionRequest(request: MatchedRequest, form: RequestForm, metaGroup: string) {
  const { attributes, namespace, requested } = request;
  const { name, subresource, operation } = attributes;
  const { user, dryRun } = attributes.request;
  return {
    kind: form.kind,
    resource: form.resource,
    ...(subresource !== '' && { subResource: subresource }),
    requestKind: requested.kind,
    requestResource: requested.resource,
    ...(subresource !== '' && { requestSubResource: subresource }),
    ...(name !== '' && { name }),
    ...(namespace !== '' && { namespace }),
    operation,
    userInfo: userInfoOf(user),
    dryRun,
    options: optionsOf(attributes, metaGroup),
  };
}

export const userInfoOf = ({ name, uid, groups, extra }: UserInfo) => ({
  ...(name !== '' && { username: name }),
  ...(uid !== '' && { uid }),
  ...(groups.length > 0 && { groups }),
  ...(Object.keys(extra).length > 0 && { extra }),
});

/** Returns the options with which the object is written or deleted: those of a patch are UpdateOptions. */
export function optionsOf({ operation, request }: AdmissionAttributes, metaGroup: string) {
  const kind = optionsKinds[operation];
  if (kind === '') return null;
  const { options, dryRun } = request;
  return {
    kind,
    apiVersion: `${metaGroup}/v1`,
    ...(options && 'gracePeriodSeconds' in options && operation === 'DELETE' && deleteOptionsOf(options)),
    ...(dryRun && { dryRun: ['All'] }),
    ...(options && 'fieldValidation' in options && operation !== 'DELETE' && writeOptionsOf(options)),
  };
}

function deleteOptionsOf({
  gracePeriodSeconds,
  preconditions,
  orphanDependents,
  propagationPolicy,
  ignoreStoreReadErrorWithClusterBreakingPotential: isUnsafe,
}: DeleteOptions) {
  return {
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(preconditions && { preconditions }),
    ...(orphanDependents !== undefined && { orphanDependents }),
    ...(propagationPolicy !== undefined && { propagationPolicy }),
    ...(isUnsafe && { ignoreStoreReadErrorWithClusterBreakingPotential: true }),
  };
}

const writeOptionsOf = ({ fieldManager, fieldValidation, hasFieldValidation }: WriteOptions) => ({
  ...(fieldManager !== '' && { fieldManager }),
  ...(hasFieldValidation && { fieldValidation }),
});
