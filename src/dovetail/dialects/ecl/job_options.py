"""Options of HPCC that say how a job is compiled, run or told, and change no rows."""

from __future__ import annotations

WITHOUT_EFFECT = {
    *("smallsortthreshold", "targetclustertype", "timelimit", "unlimitedresources"),
    *(
        "allowactivityforkeyedjoin",
        "optimizelevel",
        "foldfilter",
        "pickbestengine",
        "outputlimit",
        "freezepersists",
    ),
    *("resourcememory", "joinorder", "spanmultiplecpp", "maxlength", "varfieldaccess"),
    *("checkasserts", "thorkeys", "newchildqueries", "globalautohoist", "globalfold"),
    *("obfuscateoutput", "enableclusterhopping", "outputlimitmb", "multiplepersists"),
    *("clustersize", "countfile", "debugquery", "expandselfjoin", "expandsmartjoin"),
    *("foldassign", "foldconstantdatasets", "foldoptimized", "globaloptimize"),
    *("hoistresourced", "hthormemorylimit", "implicitlinkedchildrows", "linkoptions"),
    *("maxcsvrowsizemb", "maxerrors", "multiplepersistinstances", "optimizediskread"),
    *("optimizegraph", "optimizejoincondition", "optimizeparentaccess"),
    *("optimizeprojects", "optimizespillproject", "percolateconstants"),
    *("percolatefilters", "preventkeyedsplit", "preventsteppedsplit", "priority"),
    *("regressiontest", "resourceconditionalactions", "resourcemaxsockets"),
    *("resourcesequential", "saveecltempfiles", "savecpptempfiles", "splitterspill"),
    *("showmetaingraph", "showrecordcountingraph", "subsortlocaljoinconditions"),
    *("timeactivities", "uselinkedrows", "workunittemporaries", "commonupchildgraphs"),
    *("crccheck", "defaultskewerror", "layouttranslation", "layouttranslationenabled"),
    *("thorconnecttimeout", "maxrunprioritytime", "generatelogicalgraph", "peephole"),
    *(
        "spillmultiplecpp",
        "expandhashjoin",
        "implicitkeyeddenormalize",
        "linkcountedrows",
    ),
}
