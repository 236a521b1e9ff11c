import { Module } from '@nestjs/common';
import { PolicyGroup } from './policy.group.js';

@Module({ providers: [{ provide: PolicyGroup, useFactory: () => new PolicyGroup() }] })
export class PolicyModule {}
