/** `turnlog check <id|file>`: every rule over a stored log or a file. */
import { existsSync } from "node:fs";
import type { Finding } from "../events/rules/log-audit.ts";
import { checkFile } from "../io/check-file.ts";
import { openContext, type CommonOptions } from "./context.ts";
import { formatCount, printJson } from "./output.ts";

export interface CheckOptions extends CommonOptions {
  /** Replace the state beside a stored log where it is not the one the log leaves. */
  readonly fixState?: boolean;
}

/** Exit code 1 when something was found and not mended. */
export async function checkCommand(
  target: string,
  options: CheckOptions,
): Promise<number> {
  await using context = await openContext(options);
  const { store } = context;
  const report = existsSync(target)
    ? {
        ...(await checkFile(target, {
          knowsType: (type) => store.knowsEventType(type),
        })),
        isStateFixed: false,
      }
    : await store.check(target, { fixState: options.fixState === true });
  if (options.json === true) printJson(report);
  else {
    report.findings.forEach((finding) => console.log(findingText(finding)));
    const fixed = report.isStateFixed ? " The state has been replaced." : "";
    console.log(
      `${formatCount(report.events)} events, ${formatCount(report.count)} findings.${fixed}`,
    );
  }
  return report.count - (report.isStateFixed ? 1 : 0) === 0 ? 0 : 1;
}

function findingText(finding: Finding): string {
  const where = finding.line === null ? "" : `line ${finding.line}, `;
  const event =
    finding.seq === null ? "" : `seq ${finding.seq} ${finding.type ?? ""}: `;
  const path = finding.path === "" ? "" : `${finding.path} `;
  return `${where}${event}${path}${finding.reason} [${finding.rule}]`;
}
