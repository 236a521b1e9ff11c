import { IsBoolean, IsOptional, IsString, ValidateNested } from 'class-validator';
import { IsChoice, IsDuration, IsNatural, Satisfies } from './constraints.js';
import { auditFormats, auditModes, auditVersions } from './flags/audit.js';

type Optional = string | undefined;

/** Batches of mode `batch`. */
export class AuditBatchConfig {
  /** Events that wait; further ones are dropped. */
  @IsNatural() readonly eventsWaitingMax!: number;
  @IsNatural() readonly eventsMax!: number;
  @IsDuration() readonly waitMs!: number;
  @IsBoolean() readonly isThrottled!: boolean;
  @IsNatural() readonly burst!: number;
  @Satisfies('a number of at least 0', (value) => typeof value === 'number' && value >= 0)
  readonly batchesPerSecond!: number;
}

/** The settings that log and webhook share. */
export class AuditSinkConfig {
  @IsChoice(auditModes) readonly mode!: (typeof auditModes)[number];
  @ValidateNested() readonly batch = new AuditBatchConfig();
  @IsBoolean() readonly truncates!: boolean;
  @IsNatural() readonly batchBytesMax!: number;
  @IsNatural() readonly eventBytesMax!: number;
  @IsChoice(auditVersions) readonly version!: (typeof auditVersions)[number];
}

export class AuditLogConfig extends AuditSinkConfig {
  /** `-`: standard output. */
  @IsOptional() @IsString() readonly path: Optional;
  @IsChoice(auditFormats) readonly format!: (typeof auditFormats)[number];
  @IsBoolean() readonly compresses!: boolean;
  /** Days and number of rotated files; 0: no bound. */
  @IsNatural() readonly daysMax!: number;
  @IsNatural() readonly filesMax!: number;
  /** Size at which the file is rotated; 0: never. */
  @IsNatural() readonly megabytesMax!: number;
}

class AuditWebhookConfig extends AuditSinkConfig {
  /** Kubeconfig of the webhook. */
  @IsOptional() @IsString() readonly configFile: Optional;
  @IsDuration() readonly initialBackoffMs!: number;
}

/** Auditing: what is recorded, and to which sinks. */
export class AuditConfig {
  /** Policy file. Without it nothing is recorded. */
  @IsOptional() @IsString() readonly policyFile: Optional;
  @ValidateNested() readonly log = new AuditLogConfig();
  @ValidateNested() readonly webhook = new AuditWebhookConfig();
}
