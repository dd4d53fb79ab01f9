import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import puppeteer, { type Browser, type Page } from "puppeteer-core";

/** Where a browser of Chromium's kind is; undefined where there is none. */
export const CHROMIUM = (process.env.PATH ?? "")
  .split(delimiter)
  .flatMap((folder) =>
    ["chromium", "chromium-browser", "google-chrome"].map((name) => join(folder, name)),
  )
  .find(existsSync);

/** What a page did that none of ours may. */
export type Did = { logged: string[]; asked: string[] };

/** A headless Chromium, and a folder for the pages that it opens as files. */
export class Chromium {
  readonly folder = mkdtempSync(join(tmpdir(), "minion-page-"));
  private browser: Browser | undefined;

  async start(): Promise<void> {
    this.browser = await puppeteer.launch({
      executablePath: CHROMIUM as string,
      args: ["--no-sandbox"],
    });
  }

  /** Writes a page. @returns its path */
  write(html: string, name = "page.html"): string {
    const file = join(this.folder, name);
    writeFileSync(file, html);
    return file;
  }

  /** Opens a file, and notes what it says to the console and asks for beside itself.
   * @param before called before anything of it is loaded */
  async open(
    file: string,
    before?: (page: Page) => Promise<unknown>,
  ): Promise<{ page: Page; did: Did }> {
    // Of its own, so that it finds nothing that another page kept.
    const page = await (await (this.browser as Browser).createBrowserContext()).newPage();
    const did: Did = { logged: [], asked: [] };
    page.on("console", (message) => did.logged.push(message.text()));
    page.on("pageerror", (error) => did.logged.push(`${error}`));
    page.on("request", (request) => {
      if (!request.isNavigationRequest()) did.asked.push(request.url());
    });
    await page.emulateMediaFeatures([{ name: "prefers-reduced-motion", value: "reduce" }]);
    await page.setViewport({ width: 1200, height: 900 });
    await before?.(page);
    await page.goto(`${pathToFileURL(file)}`);
    return { page, did };
  }

  async end(): Promise<void> {
    await this.browser?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
