// Public API for programs that embed the server and add API groups, authenticators, admission plug-ins, reconcilers, encodings
// and storage backends of their own.
import { startOpenServer, type RunningServer, type StartOptions } from './assembly/server.js';
import type { ServerConfig } from './config/server-config.js';

export {
  ApiGroup,
  Subresource,
  VirtualResource,
  type ApiGroupOptions,
  type HandlerResult,
  type SubresourceRequest,
  type VirtualRequest,
} from './registry/apis/api-group.js';
export {
  defineResource,
  type HandledSubresource,
  type ViewSubresource,
  type ResourceDefinition,
  type VirtualResourceDefinition,
} from './registry/definition/resource-definition.js';
export { scaleSubresource } from './registry/definition/scale-subresource.js';
export { statusSubresource } from './registry/definition/status-subresource.js';
export { updateObject } from './registry/write/update.js';
export type { Strategy, StrategyContext } from './registry/definition/strategy.js';
export { ageCell, ageColumn, defaultTable, nameColumn, type TableDefinition } from './registry/definition/table.js';
export { ApiError } from './machinery/api-error.js';
export { fieldError, type FieldError } from './machinery/field-error.js';
export { asFields, asNumber, asText, fillIn, makeFields } from './machinery/fields.js';
export type { KubeObject, ObjectMeta } from './machinery/kube-object.js';
export { nameIsDnsLabel, nameIsDnsSubdomain } from './machinery/names.js';
export { admissionFor } from './verbs/verb.js';
export { defineAuthenticator, type AuthenticatorDefinition } from './auth/authenticator-definition.js';
export type { AuthenticationResult, Authenticator, Credentials } from './auth/authenticator.js';
export type { UserInfo } from './machinery/user-info.js';
export {
  defineStorageBackend,
  type BackendDefinition,
  type BackendDependencies,
} from './storage/backend-definition.js';
export type * from './storage/kv-store.js';
export { StorageError } from './storage/storage-error.js';
export { deleteEvent, putEvent } from './storage/store-event.js';
export type { Decoded, DecodeOptions, Encoding, ListEncoding } from './codec/encoding.js';
export { EncodeError } from './codec/encode-error.js';
export { abortSignalOf, type Cancellation } from './std/cancellation.js';
export { DecodeError } from './std/decode-error.js';
export {
  defineAdmissionPlugin,
  type AdmissionAttributes,
  type AdmissionHooks,
  type AdmissionPluginDefinition,
} from './admission/admission-plugin.js';
export type { PluginDependencies } from './admission/plugin-dependencies.js';
export {
  defineReconciler,
  type ReconcilerDefinition,
  type ReconcilerDependencies,
  type RunningReconciler,
} from './reconcilers/reconciler.js';
export { followNames } from './reconcilers/follow.js';
export type { RunningServer, StartOptions } from './assembly/server.js';
export { groupModule } from './registry/apis/group.module.js';
export { defaultConfig, loadConfig } from './config/load-config.js';
export type { ModuleContext } from './assembly/components.js';
export type { GroupModule } from './app.module.js';

/** Assembles and starts a server; resolves when it is ready. If a step fails, the completed ones are undone. */
export function startServer(config: ServerConfig, options?: StartOptions): Promise<RunningServer> {
  return startOpenServer(config, options);
}
