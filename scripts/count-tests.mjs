/** How many tests passed, failed and were skipped, from vitest's JSON report; what broke outside of any test counts as one failure. */
export function countTests(report, code) {
  const none = { passed: 0, failed: 1, skipped: 0 };
  if (report === undefined) return none;
  let json;
  try {
    json = JSON.parse(report);
  } catch {
    return none;
  }
  const counted = { passed: 0, failed: 0, skipped: 0 };
  for (const file of json.testResults) {
    // A file that could not be loaded has no tests and still failed.
    if (file.status === "failed" && !file.assertionResults.some(({ status }) => status === "failed")) counted.failed++;
    for (const { status } of file.assertionResults) counted[status === "passed" || status === "failed" ? status : "skipped"]++;
  }
  if (code !== 0 && counted.failed === 0) counted.failed = 1;
  return counted;
}
