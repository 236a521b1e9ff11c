import type { NamingProfile } from '../../config/naming-profile.js';

/** The options of `keelson agent`, checked. Properties are named by agent-flags.ts. */
export interface AgentOptions {
  /** Name of the Node, in lower case. */
  readonly nodeName: string;
  readonly rootDirectory: string;
  readonly configFile: string | undefined;
  readonly kubeconfig: string | undefined;
  readonly bootstrapKubeconfig: string | undefined;
  readonly certDirectory: string;
  readonly serving: {
    readonly isEnabled: boolean;
    readonly address: string;
    readonly port: number;
    readonly healthzAddress: string;
    /** Zero: there is no unauthenticated /healthz. */
    readonly healthzPort: number;
    readonly tlsCertFile: string | undefined;
    readonly tlsPrivateKeyFile: string | undefined;
    readonly tlsMinVersion: string;
    readonly tlsCipherSuites: readonly string[];
    readonly streamIdleTimeoutMs: number;
    /** /logs/, /containerLogs, /exec, /attach, /portForward and /run. */
    readonly hasDebuggingHandlers: boolean;
    readonly hasSystemLogs: boolean;
    readonly logDirectory: string;
  };
  readonly authentication: {
    readonly anonymous: boolean;
    readonly clientCaFile: string | undefined;
    readonly webhook: boolean;
    readonly webhookCacheTtlMs: number;
  };
  readonly authorization: {
    readonly mode: 'AlwaysAllow' | 'Webhook';
    readonly allowedTtlMs: number;
    readonly otherTtlMs: number;
  };
  readonly runtime: {
    /** `unix:<path>`; undefined: the agent shows no Pods of a runtime. */
    readonly endpoint: string | undefined;
    readonly imageEndpoint: string | undefined;
    readonly requestTimeoutMs: number;
  };
  readonly certificates: {
    /** Renews the client certificate before it expires. */
    readonly rotatesClient: boolean;
    /** Requests the serving certificate from the API server, and renews it. */
    readonly rotatesServing: boolean;
  };
  readonly node: {
    readonly isRegistered: boolean;
    readonly ips: readonly string[];
    readonly labels: Readonly<Record<string, string>>;
    /** `key=value:Effect` */
    readonly taints: readonly string[];
    readonly isSchedulable: boolean;
    readonly providerId: string;
    readonly maxPods: number;
    /** -1: all images. */
    readonly imagesMax: number;
    readonly statusUpdateMs: number;
    readonly statusReportMs: number;
    readonly leaseSeconds: number;
    readonly systemReserved: Readonly<Record<string, string>>;
    readonly kubeReserved: Readonly<Record<string, string>>;
    /** `memory.available<100Mi,nodefs.available<10%` */
    readonly evictionHard: string;
    readonly pressureTransitionMs: number;
  };
  readonly featureGates: Readonly<Record<string, boolean>>;
  readonly log: { readonly level: 'debug' | 'info' | 'warn' | 'error' };
  readonly naming: NamingProfile;
}
