"""Texts of a folder that a program imports."""

import pytest

from dovetail.api.catalogs import ModuleFolder
from dovetail.conformance.engines import EngineName
from dovetail.conformance.programs import ProgramPlay
from dovetail.dialects.ecl import translate
from dovetail.errors import DialectError, SpecError

TEXTS = {
    "shop/Pets.ecl": """
        IMPORT $, ^ AS root;
        own := 2;
        EXPORT Pets := MODULE
            EXPORT Layout := RECORD $.Key; STRING5 pet; END;
            EXPORT File := DATASET([{1, 'Rex'}, {own, 'Tib'}], Layout);
            EXPORT named := File(pet = root.Limits.Name);
        END;
    """,
    "shop/Key.ecl": "EXPORT Key := RECORD INTEGER owner; END;",
    "shop/deep/Up.ecl": "IMPORT $.^ AS shop; EXPORT Up := shop.Pets.File(owner = 2);",
    "Limits.ecl": "EXPORT Limits := MODULE EXPORT Name := 'Tib'; SHARED x := 1; END;",
    "Twice.ecl": "EXPORT Twice(INTEGER n) := n * 2;",
    "Other.ecl": "EXPORT Another := 1;",
    "Tools.ecl": """
        EXPORT Tools := MODULE
            EXPORT first(rows, by, n = 1) := FUNCTIONMACRO
                sorted := SORT(rows, by);
                RETURN CHOOSEN(sorted, n);
            ENDMACRO;
            inner(rows) := MACRO rows ENDMACRO;
        END;
    """,
    "kit/Show.ecl": """
        EXPORT Show(rows) := MACRO
            OUTPUT(rows, {pet, wrong});
        ENDMACRO;
    """,
    "kit/Last.ecl": """
        IMPORT shop, ^ AS root;
        EXPORT Last := root.Tools.first(shop.Pets.File, -owner);
    """,
    "Ring.ecl": "IMPORT $; EXPORT Ring := $.Ring + 1;",
    "Acts.ecl": "OUTPUT(5); EXPORT Acts := 1;",
    "Broken.ecl": "EXPORT Broken :=\n 1 +;",
    "Unknown.ecl": "EXPORT Unknown := nobody;",
}


@pytest.fixture
def folder(tmp_path):
    """A folder with all of the texts."""
    for name, text in TEXTS.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path


def program(text, folder, home=""):
    """The program of a text that may import those of a folder."""
    return translate(text, {}, ModuleFolder.of(folder, folder / home))


def rows(text, folder, home=""):
    """The rows of the first output."""
    lines = ProgramPlay(program(text, folder, home), {}).lines(EngineName.ORACLE)
    return [tuple(line.row.values()) for line in lines]


@pytest.mark.parametrize(
    ("text", "home", "wanted"),
    [
        ("IMPORT shop; OUTPUT(shop.Pets.File);", "", [(1, "Rex"), (2, "Tib")]),
        ("IMPORT shop.Pets; OUTPUT(pets.named);", "", [(2, "Tib")]),
        ("IMPORT shop.Pets; OUTPUT(shop.pets.named);", "", [(2, "Tib")]),
        ("IMPORT SHOP.PETS AS p; OUTPUT(p.named);", "", [(2, "Tib")]),
        ("IMPORT Pets FROM shop; OUTPUT(Pets.named);", "", [(2, "Tib")]),
        ("IMPORT * FROM shop; OUTPUT(Pets.named);", "", [(2, "Tib")]),
        ("IMPORT $; OUTPUT($.Pets.named);", "shop", [(2, "Tib")]),
        ("IMPORT $.^ AS top; OUTPUT(top.Twice(4));", "shop", [(8,)]),
        ("IMPORT $.deep; OUTPUT(deep.Up);", "shop", [(2, "Tib")]),
        ("IMPORT $; m := $.shop; OUTPUT(m.pets.named);", "", [(2, "Tib")]),
        ("OUTPUT(shop.Pets.named);", "", [(2, "Tib")]),
        ("n := MODULE IMPORT Limits; EXPORT a := Limits.Name; END; OUTPUT(n.a);",
         "", [("Tib",)]),
        ("f() := FUNCTION IMPORT Limits; RETURN Limits.Name; END; OUTPUT(f());",
         "", [("Tib",)]),
        ("IMPORT Twice; Twice := 7; OUTPUT(Twice);", "", [(7,)]),
        ("EXPORT Some := 4 + 1;", "", [(5,)]),
        ("IMPORT Tools, shop; OUTPUT(Tools.first(shop.Pets.File, pet));",
         "", [(1, "Rex")]),
        ("IMPORT $; OUTPUT($.Tools.first($.shop.Pets.File, pet, 2)(owner > 1));",
         "", [(2, "Tib")]),
        ("IMPORT first FROM $.Tools; OUTPUT(first($.shop.Pets.File, -owner));",
         "", [(2, "Tib")]),
        ("IMPORT kit; OUTPUT(kit.Last);", "", [(2, "Tib")]),
        ("IMPORT kit; wrong := 7; kit.Show(shop.Pets.File(owner = 1));",
         "", [("Rex", 7)]),
        ("IMPORT $; EXPORT Some := $.Pets.named;", "shop", [(2, "Tib")]),
    ],
)  # fmt: skip
def test_a_definition_of_another_text_stands_behind_its_path(
    text, home, wanted, folder
):
    assert rows(text, folder, home) == wanted


@pytest.mark.parametrize(
    ("text", "file", "says"),
    [
        ("OUTPUT($.Nobody);", "", 'no "nobody" among the modules; expected one of'),
        ("IMPORT shop; OUTPUT(shop.x);", "", "expected one of deep, key, pets"),
        ("OUTPUT($.Limits.x);", "", '"x" of a MODULE that does not export it'),
        ("OUTPUT($.Other);", "", 'the text "other" exports no "other"'),
        ("IMPORT Tools; OUTPUT(Tools.inner(1));", "", '"inner" of a MODULE that'),
        (
            "IMPORT kit; kit.Show(shop.Pets.File);",
            "",
            'in line 3 of the macro "Show" of kit/Show.ecl: nothing is named "wrong"',
        ),
        ("OUTPUT($.Ring);", "Ring.ecl", '"ring" inside of itself'),
        ("OUTPUT($.Acts);", "Acts.ecl", "an action in a text that is imported"),
        ("OUTPUT($.Broken);", "Broken.ecl", '";" does not go on here'),
        ("OUTPUT($.Unknown);", "Unknown.ecl", 'nothing is named "nobody"'),
        ("OUTPUT($);", "", "a folder of other texts that is put out"),
    ],
)
def test_what_is_wrong_with_an_import_is_shown_in_its_own_text(
    text, file, says, folder
):
    with pytest.raises(DialectError) as error:
        program(text, folder)
    assert says in str(error.value)
    assert error.value.place.file == file
    assert str(error.value).startswith(f"{file}, line" if file else "line")


def test_a_program_elsewhere_has_the_folder_itself_for_its_own(folder):
    text = "IMPORT $; OUTPUT($.Limits.Name);"
    modules = ModuleFolder.of(folder / "shop", folder)
    with pytest.raises(DialectError, match='no "limits" among the modules'):
        translate(text, {}, modules)


def test_no_folder_of_modules_is_refused(tmp_path):
    with pytest.raises(SpecError, match="is no folder of modules"):
        ModuleFolder.of(tmp_path / "none")


def test_a_text_that_is_not_in_utf_8_is_refused(folder):
    (folder / "Latin.ecl").write_bytes(b"EXPORT Latin := '\xe9';")
    with pytest.raises(SpecError, match=r"Latin.ecl.* cannot be read"):
        program("OUTPUT($.Latin);", folder)
